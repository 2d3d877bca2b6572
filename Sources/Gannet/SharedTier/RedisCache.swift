internal import ClusterState
internal import FetchCache
public import GannetFetch
internal import RedisClient

/// A cache in Redis for any number of processes: what one has fetched the others find, and no two fetch one URL at a time.
///
/// ```swift
/// let redis = try await RedisCache.connect(RedisCacheOptions(redis: "redis://cache.internal"))
/// let fetcher = try Fetcher(FetcherOptions { $0.shared = redis.shared })
/// ```
///
/// While Redis is away fetchers go on without it, each for itself. It has a queue's jobs beside it where the namespace is theirs: what a caller
/// here waits for may be fetched by a worker.
public final class RedisCache: Sendable {
    /// To be given to ``FetcherOptions/shared``.
    public let shared: SharedCache

    private let link: RedisLink

    /// A cache that does not answer in this time is none.
    private static let patience = Duration.seconds(2)
    private static let bodyPatience = Duration.seconds(10)

    /// Connects, and throws why not when that fails, or when the namespace is another version's.
    public static func connect(_ options: RedisCacheOptions) async throws -> RedisCache {
        try options.validate()
        let configuration = try await ClusterError.wrappingRedis { () throws(RedisError) in
            var configuration = try RedisConfiguration(url: options.redis, passwordFile: options.passwordFile)
            configuration.tls.authorityFile = options.authorityFile
            configuration.clientName = "gannet"
            return configuration
        }
        return try await connect(
            to: configuration, namespace: options.namespace, lease: options.lease, bodyLimit: options.bodyLimit)
    }

    static func connect(
        to configuration: RedisConfiguration, namespace: String, lease: Duration, bodyLimit: Int
    ) async throws(ClusterError) -> RedisCache {
        let control = try await ClusterError.wrappingRedis { () throws(RedisError) in
            var configuration = configuration
            configuration.commandTimeout = patience
            return try await RedisConnection.connect(configuration)
        }
        let cluster = ClusterState(control, namespace: namespace)
        try await ClusterError.wrapping { () throws(StateError) in try await cluster.checkSchema() }
        let name = String(UInt64.random(in: .min ... .max), radix: 36)
        return try await ClusterError.wrappingRedis { () throws(RedisError) in
            // A large body must not stand before a renewal.
            var configuration = control.configuration
            configuration.commandTimeout = bodyPatience
            let bodies = try await RedisConnection.connect(configuration)
            let subscriber = try await RedisSubscriber.connect(control.configuration)
            let inbox = try await subscriber.subscribe(to: [cluster.inbox(of: name)])
            let link = RedisLink(control: control, bodies: bodies, subscriber: subscriber, inbox: inbox)
            let store = SharedBodies(store: BlobStore(link.bodies, namespace: namespace), limit: bodyLimit, sparing: lease)
            let tier = RedisTier(
                link: link, cluster: cluster, bodies: store, renewals: Renewals(cluster, lease: lease), lease: lease,
                inbox: cluster.inbox(of: name))
            return RedisCache(link, tier)
        }
    }

    private init(_ link: RedisLink, _ tier: RedisTier) {
        self.link = link
        shared = SharedCache(tier)
    }

    /// Ends the connections. Fetchers that use it go on without it.
    public func close() async { await link.close() }
}
