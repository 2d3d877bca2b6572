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

    private let control: RedisConnection
    private let bodies: RedisConnection
    private let subscriber: RedisSubscriber
    private let listening: Task<Void, Never>

    /// A cache that does not answer in this time is none.
    private static let patience = Duration.seconds(2)
    private static let bodyPatience = Duration.seconds(20)

    /// Connects, and throws why not when that fails, or when the namespace is another version's.
    public static func connect(_ options: RedisCacheOptions) async throws(ClusterError) -> RedisCache {
        try options.validate()
        let control = try await ClusterError.wrappingRedis { () throws(RedisError) in
            var configuration = try RedisConfiguration(url: options.redis, passwordFile: options.passwordFile)
            configuration.tls.authorityFile = options.authorityFile
            configuration.clientName = "gannet"
            configuration.commandTimeout = patience
            return try await RedisConnection.connect(configuration)
        }
        let cluster = ClusterState(control, namespace: options.namespace)
        try await ClusterError.wrapping { () throws(StateError) in try await cluster.checkSchema() }
        let name = String(UInt64.random(in: .min ... .max), radix: 36)
        return try await ClusterError.wrappingRedis { () throws(RedisError) in
            // A large body must not stand before a renewal.
            var configuration = control.configuration
            configuration.commandTimeout = bodyPatience
            let bodies = try await RedisConnection.connect(configuration)
            let subscriber = try await RedisSubscriber.connect(control.configuration)
            let inbox = try await subscriber.subscribe(to: [cluster.inbox(of: name)])
            return RedisCache(options, cluster, bodies, subscriber, inbox, name)
        }
    }

    private init(
        _ options: RedisCacheOptions, _ cluster: ClusterState, _ bodies: RedisConnection, _ subscriber: RedisSubscriber,
        _ inbox: RedisSubscription, _ name: String
    ) {
        control = cluster.connection
        self.bodies = bodies
        self.subscriber = subscriber
        let freed = FreedURLs()
        listening = Task { await freed.listen(to: inbox) }
        let store = SharedBodies(
            store: BlobStore(bodies, namespace: options.namespace), limit: options.bodyLimit, sparing: options.lease)
        shared = SharedCache(
            RedisTier(
                cluster: cluster, bodies: store, renewals: Renewals(cluster, lease: options.lease), freed: freed, lease: options.lease,
                inbox: cluster.inbox(of: name)))
    }

    deinit {
        listening.cancel()
    }

    /// Ends the connections. Fetchers that use it go on without it.
    public func close() async {
        listening.cancel()
        await subscriber.close()
        await control.close()
        await bodies.close()
    }
}
