/// Everything a connection needs to know, with defaults that suit a server on the same network.
package struct RedisConfiguration: Sendable, Equatable {
    package var address: RedisAddress
    package var credentials: RedisCredentials?

    /// The logical database to `SELECT`.
    package var database = 0

    package var tls = RedisTLS()

    /// Shown by `CLIENT LIST`, so that an operator can tell the connections apart. No spaces.
    package var clientName: String?

    /// The bound on one connection attempt as a whole: look-up, connect, TLS and greeting.
    package var connectTimeout: Duration = .seconds(5)

    /// The bound on a command, from `send` to its reply, the wait for a connection included.
    package var commandTimeout: Duration = .seconds(10)

    /// The pause before a reconnect: doubles from the shortest to the longest, each drawn at random below that.
    package var shortestBackoff: Duration = .milliseconds(50)
    package var longestBackoff: Duration = .seconds(5)

    /// A reply that takes more memory than this ends the connection instead of the process.
    package var maximumReplyBytes = 128 << 20

    /// Commands that wait to be written may hold this much; the next is refused with ``RedisError/Kind/backlogFull``.
    package var maximumBacklogBytes = 256 << 20

    package init(address: RedisAddress, credentials: RedisCredentials? = nil) {
        self.address = address
        self.credentials = credentials
    }

    /// The oldest server whose commands and scripts do what is relied on: `LPOP key count`, `ZRANGE … BYSCORE`, script effects.
    package static let oldestServer = RedisVersion(major: 6, minor: 2)
}

/// A server's version, as far as it decides anything.
package struct RedisVersion: Sendable, Comparable, CustomStringConvertible {
    package let major: Int
    package let minor: Int

    package init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// Reads `7.0.15` and the like.
    init?(_ text: String) {
        let parts = text.split(separator: ".")
        guard parts.count >= 2, let major = Int(parts[0]), let minor = Int(parts[1]) else { return nil }
        self.init(major: major, minor: minor)
    }

    package static func < (left: Self, right: Self) -> Bool { (left.major, left.minor) < (right.major, right.minor) }
    package var description: String { "\(major).\(minor)" }
}
