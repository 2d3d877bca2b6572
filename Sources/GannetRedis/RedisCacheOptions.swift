public import FoundationEssentials
internal import GannetHTTP
internal import GannetRedisClient

/// The Redis of a ``RedisCache``, and how much of it the cache uses.
public struct RedisCacheOptions: Sendable {
    /// `redis://` or `rediss://`, perhaps with a password, or a file URL of a socket.
    public var redis: URL

    /// A file with the password, read at every connect.
    public var passwordFile: URL?

    /// A file with PEM certificates to trust for `rediss://` instead of the system's.
    public var authorityFile: URL?

    /// The beginning of every key. Processes that share a cache use the same namespace.
    public var namespace = "gannet"

    /// How long a process that dies keeps others from the URL that it was fetching. A living process renews its leases in time.
    public var lease: Duration = .seconds(30)

    /// The most bytes of Redis' memory for bodies, keys and index included. The least recently used body makes room for a new one.
    public var bodyLimit = 1_000_000_000

    public init(redis: URL) { self.redis = redis }

    /// Options with some changed.
    public init(redis: URL, _ change: (inout RedisCacheOptions) -> Void) {
        self.init(redis: redis)
        change(&self)
    }

    func validate() throws(RedisError) {
        for file in [passwordFile, authorityFile].compactMap({ $0 }) where !file.isFileURL {
            throw RedisError(.invalidConfiguration, "A file of a password or of certificates is a file URL.")
        }
        guard (Duration.seconds(1)...Duration.seconds(3600)).contains(lease) else {
            throw RedisError(.invalidConfiguration, "A lease is from 1 second to 1 hour.")
        }
        guard (1_000_000...1 << 50).contains(bodyLimit) else {
            throw RedisError(.invalidConfiguration, "The limit for bodies is from 1 MB to 1 PiB.")
        }
        guard !namespace.isEmpty, namespace.utf8.count <= 100, !namespace.contains(where: { "{}".contains($0) }) else {
            throw RedisError(.invalidConfiguration, "A namespace has 1 to 100 bytes and no braces.")
        }
    }
}

extension RedisCacheOptions {
    /// The address as the Redis client takes it.
    var address: String { redis.isFileURL ? "unix://\(redis.path)" : redis.absoluteString }
}

/// Printed without the password, also in a dump or as a part of another value.
extension RedisCacheOptions: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        let values: KeyValuePairs<String, Any> = [
            "redis": RedactedURL(address: redis.absoluteString).description, "passwordFile": passwordFile?.path as Any,
            "authorityFile": authorityFile?.path as Any,
            "namespace": namespace, "lease": lease, "bodyLimit": bodyLimit,
        ]
        return Mirror(self, children: values, displayStyle: .struct)
    }
}
