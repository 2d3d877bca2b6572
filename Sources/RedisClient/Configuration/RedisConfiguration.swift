/// The options of a connection, with defaults for a server on the same network.
package struct RedisConfiguration: Sendable, Equatable {
    package var address: RedisAddress
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
}

extension RedisAddress: CustomStringConvertible {
    /// The address as a URL without credentials, for errors and logs.
    package var description: String {
        switch self {
        case .tcp(let host, let port, let tls):
            let shown = host.contains(":") ? "[\(host)]" : host
            return "\(tls ? "rediss" : "redis")://\(shown):\(port)"
        case .unix(let path):
            return "unix://\(path)"
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
