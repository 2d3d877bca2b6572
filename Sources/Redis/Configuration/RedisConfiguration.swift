/// The options of a connection, with defaults for a server on the same network.
package struct RedisConfiguration: Sendable, Equatable {
    package var address: RedisAddress

    /// Further nodes of a Redis Cluster, for the time when the first one is away.
    package var seeds: [RedisAddress] = []

    /// A cluster gave the address, and no user.
    var isGivenAddress = false

    package var credentials: RedisCredentials?

    /// The logical database to `SELECT`.
    package var database = 0

    package var tls = RedisTLS()

    /// The connection's name in `CLIENT LIST`, without spaces.
    package var clientName: String?

    /// The bound on one attempt to connect: lookup, connect, TLS and greeting.
    package var connectTimeout: Duration = .seconds(5)

    /// The bound on a command, from `send` to its reply, including the wait for a connection.
    package var commandTimeout: Duration = .seconds(10)

    /// Bounds of the random pause before a reconnect. The pause grows with each failure.
    package var shortestBackoff: Duration = .milliseconds(50)
    package var longestBackoff: Duration = .seconds(5)

    /// A larger reply closes the connection.
    package var maximumReplyBytes = 128 << 20

    /// The bound on unsent commands. Further commands fail with ``RedisError/Kind/backlogFull``.
    package var maximumBacklogBytes = 256 << 20

    /// The server is a Sentinel, which is asked for a primary.
    var asksSentinel = false

    package init(address: RedisAddress, credentials: RedisCredentials? = nil) {
        self.address = address
        self.credentials = credentials
    }

    /// The oldest server with all commands that are used: `LPOP key count`, `ZRANGE … BYSCORE`, and replication of script effects.
    package static let oldestServer = RedisVersion(major: 6, minor: 2)
}

/// A server's version without its patch level.
package struct RedisVersion: Sendable, Comparable, CustomStringConvertible {
    package let major: Int
    package let minor: Int

    package init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// Parses `7.0.15` and the like.
    init?(_ text: String) {
        let parts = text.split(separator: ".")
        guard parts.count >= 2, let major = Int(parts[0]), let minor = Int(parts[1]) else { return nil }
        self.init(major: major, minor: minor)
    }

    package static func < (left: Self, right: Self) -> Bool { (left.major, left.minor) < (right.major, right.minor) }
    package var description: String { "\(major).\(minor)" }
}

/// Where a Redis server listens.
package enum RedisAddress: Sendable, Hashable {
    /// A host name or address and a port, with or without TLS.
    case tcp(host: String, port: Int, tls: Bool)
    /// A Unix domain socket.
    case unix(path: String)
    /// The primary that Sentinels name.
    case sentinel(SentinelAddress)
}

/// Sentinels, and the name that they have for a primary.
package struct SentinelAddress: Sendable, Hashable {
    package struct Host: Sendable, Hashable {
        package let name: String
        package let port: Int

        package init(name: String, port: Int) {
            self.name = name
            self.port = port
        }

        var description: String { "\(name.contains(":") ? "[\(name)]" : name):\(port)" }
    }

    package let sentinels: [Host]
    package let primary: String

    /// Whether Sentinels and primary are reached over TLS.
    package let tls: Bool

    package init(sentinels: [Host], primary: String, tls: Bool) {
        self.sentinels = sentinels
        self.primary = primary
        self.tls = tls
    }
}

extension RedisAddress {
    static let ports = 1...65535

    var hasTLS: Bool {
        switch self {
        case .tcp(_, _, let tls): tls
        case .unix: false
        case .sentinel(let address): address.tls
        }
    }
}

extension RedisAddress: CustomStringConvertible {
    /// The address as a URL without credentials, for errors and logs.
    package var description: String {
        switch self {
        case .tcp(let host, let port, let tls):
            return "\(tls ? "rediss" : "redis")://\(SentinelAddress.Host(name: host, port: port).description)"
        case .unix(let path):
            return "unix://\(path)"
        case .sentinel(let address):
            let hosts = address.sentinels.map(\.description).joined(separator: ",")
            return "\(address.tls ? "rediss" : "redis")+sentinel://\(hosts)/\(address.primary)"
        }
    }
}

/// How the certificate of a `rediss://` server is verified. Verification cannot be switched off.
package struct RedisTLS: Sendable, Equatable {
    /// A PEM file of the authorities to trust instead of the system's; `nil` trusts the system's.
    package var authorityFile: String?

    /// The name the certificate must carry, sent as server name indication; `nil` means the address's host.
    package var serverName: String?

    package init(authorityFile: String? = nil, serverName: String? = nil) {
        self.authorityFile = authorityFile
        self.serverName = serverName
    }
}
