internal import HTTPEngine
internal import RedisClient

/// The Redis of a ``RedisCache``, and how much of it the cache uses.
public struct RedisCacheOptions: Sendable {
    /// `redis://`, `rediss://` or `unix://`. It may hold a password.
    public var redis: String

    /// A file with the password, read at every connect.
    public var passwordFile: String?

    /// PEM certificates to trust for `rediss://` instead of the system's.
    public var authorityFile: String?

    /// The beginning of every key. Processes that share a cache use the same namespace.
    public var namespace = "gannet"

    /// How long a process that dies keeps others from the URL that it was fetching. A living process renews its leases in time.
    public var lease: Duration = .seconds(30)

    /// The most bytes of Redis' memory for bodies, keys and index included. The least recently used body makes room for a new one.
    public var bodyLimit = 1_000_000_000

    public init(redis: String) { self.redis = redis }

    /// Options with some changed.
    public init(redis: String, _ change: (inout RedisCacheOptions) -> Void) {
        self.init(redis: redis)
        change(&self)
    }

    func validate() throws(RedisError) {
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

/// Printed without the password, also in a dump or as a part of another value.
extension RedisCacheOptions: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        let values: KeyValuePairs<String, Any> = [
            "redis": RedactedURL(address: redis).description, "passwordFile": passwordFile as Any, "authorityFile": authorityFile as Any,
            "namespace": namespace, "lease": lease, "bodyLimit": bodyLimit,
        ]
        return Mirror(self, children: values, displayStyle: .struct)
    }
}
