internal import ClusterState

/// Which Redis a ``RedisCache`` is in, and how much of it may be used.
public struct RedisCacheOptions: Sendable {
    /// `redis://`, `rediss://` or `unix://`. It may hold a password.
    public var redis: String

    /// A file with the password, read at every connect.
    public var passwordFile: String?

    /// PEM certificates to trust for `rediss://` instead of the system's.
    public var authorityFile: String?

    /// Every key begins with it: processes that share have the same.
    public var namespace = "gannet"

    /// For how long a process that dies keeps others from the URL it was fetching. While it lives it renews in time.
    public var lease: Duration = .seconds(30)

    /// The most bytes of Redis' memory for bodies, keys and index included. The body that was not used for longest makes room for a new one.
    public var bodyLimit = 1_000_000_000

    public init(redis: String) { self.redis = redis }

    /// Options with some changed.
    public init(redis: String, _ change: (inout RedisCacheOptions) -> Void) {
        self.init(redis: redis)
        change(&self)
    }

    func validate() throws(ClusterError) {
        guard (Duration.seconds(1)...Duration.seconds(3600)).contains(lease) else {
            throw ClusterError(.usage, "A lease is from 1 second to 1 hour.")
        }
        guard (1_000_000...1 << 50).contains(bodyLimit) else {
            throw ClusterError(.usage, "The limit for bodies is from 1 MB to 1 PiB.")
        }
        guard !namespace.isEmpty, namespace.utf8.count <= 100, !namespace.contains(where: { "{}".contains($0) }) else {
            throw ClusterError(.usage, "A namespace has 1 to 100 bytes and no braces.")
        }
    }
}
