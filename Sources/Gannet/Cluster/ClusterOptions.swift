/// Which Redis, and which part of it.
package struct ClusterOptions: Sendable {
    /// `redis://`, `rediss://` or `unix://`. It may hold a password.
    package var redis: String

    /// A file with the password, read at every connect.
    package var passwordFile: String?

    /// PEM certificates to trust for `rediss://` instead of the system's.
    package var authorityFile: String?

    /// Every key begins with it.
    package var namespace = "gannet"

    /// How long a call other than a worker's waits for a Redis that is away; zero for one that fails at once.
    package var patience = Duration.seconds(60)

    /// Called when a call other than a worker's begins to wait for Redis, and when Redis is back. Workers report for themselves.
    package var outage: (@Sendable (RedisOutage) -> Void)?

    package init(redis: String) { self.redis = redis }
}
