internal import FoundationEssentials
internal import GannetBase
public import GannetFetch
package import GannetQueue
@_exported public import GannetRedisClient

/// A cache in Redis for any number of processes. They share what they fetch, and no two of them fetch one URL at a time.
///
/// ```swift
/// let redis = try await RedisCache.connect(RedisCacheOptions(redis: URL(string: "redis://cache.internal")!))
/// let fetcher = try Fetcher(FetcherOptions { $0.shared = redis.shared })
/// ```
///
/// While Redis is away, each fetcher goes on without the cache. In a namespace with queues, workers and callers share their fetches as well.
public final class RedisCache: Sendable {
    /// The value for ``/GannetFetch/FetcherOptions/shared``.
    public let shared: SharedCache

    /// The places at hosts, which are asked for where a politeness was given.
    package let hosts: (any SharedHosts)?

    private let link: RedisLink

    /// A slower cache is treated as missing.
    private static let patience = Duration.seconds(2)
    private static let bodyPatience = Duration.seconds(10)

    /// Connects to Redis.
    ///
    /// Throws if the first attempt fails, if an option is invalid, or if the namespace belongs to another version.
    public static func connect(_ options: RedisCacheOptions) async throws(RedisError) -> RedisCache {
        try options.validate()
        var configuration = try RedisConfiguration(url: options.address, passwordFile: options.passwordFile?.path)
        configuration.tls.authorityFile = options.authorityFile?.path
        configuration.clientName = "gannet"
        return try await connect(
            to: configuration, namespace: options.namespace, lease: options.lease, bodyLimit: options.bodyLimit)
    }

    /// - Parameters:
    ///   - longestHold: How long a fetch may have the lock of its URL. After that, others fetch the URL too.
    ///   - full: Called once, when Redis has no memory for a body.
    package static func connect(
        to configuration: RedisConfiguration, namespace: String, lease: Duration, longestHold: Duration = .seconds(3600), bodyLimit: Int,
        _ politeness: HostPoliteness? = nil, full: (@Sendable () -> Void)? = nil
    ) async throws(RedisError) -> RedisCache {
        var configuration = configuration
        configuration.commandTimeout = patience
        let control = try await RedisConnection.connect(configuration)
        let cluster: ClusterState
        do { cluster = try await ClusterState.open(control, namespace: namespace, partitions: nil) } catch { throw RedisError(error) }
        let subscriber = try await RedisSubscriber.connect(configuration)
        // On a connection of their own, because a large body would delay renewals.
        configuration.commandTimeout = bodyPatience
        let bodies = try await RedisConnection.connect(configuration)
        return try await over(
            cluster, bodies: bodies, subscriber: subscriber, lease: lease, longestHold: longestHold, bodyLimit: bodyLimit, politeness,
            full: full
        ) {
            await subscriber.close()
            await control.close()
            await bodies.close()
        }
    }

    /// A cache over connections of its caller, who closes them later where `close` does not.
    /// - Parameters:
    ///   - full: Called once, when Redis has no memory for a body.
    ///   - close: Called when the cache is closed.
    package static func over(
        _ cluster: ClusterState, bodies: RedisConnection, subscriber: RedisSubscriber, lease: Duration, longestHold: Duration,
        bodyLimit: Int, _ politeness: HostPoliteness? = nil, full: (@Sendable () -> Void)? = nil,
        close: @escaping @Sendable () async -> Void = {}
    ) async throws(RedisError) -> RedisCache {
        let process = String(UInt64.random(in: .min ... .max), radix: 36)
        let subscription = try await subscriber.subscribe(to: cluster.inboxes(of: process))
        let link = RedisLink(inbox: TierInbox(process, cluster), subscription, closeConnections: close)
        let lanes = cluster.partitions.map { TierLane(cluster, $0, lease: lease, politeness) }
        let breaker = OutageBreaker()
        let isUntold = SharedFlag()
        isUntold.set()
        let tier = RedisTier(
            link: link, cluster: cluster, bodies: BlobStore(cluster, over: bodies), bodyLimit: bodyLimit, lanes: lanes, lease: lease,
            longestHold: longestHold, breaker: breaker, full: { if isUntold.take() { full?() } })
        return RedisCache(
            link, tier, politeness.map { RedisHosts(cluster: cluster, lanes: lanes, politeness: $0, breaker: breaker) })
    }

    private init(_ link: RedisLink, _ tier: RedisTier, _ hosts: RedisHosts?) {
        self.link = link
        shared = SharedCache(tier)
        self.hosts = hosts
    }

    /// Closes the connections. Fetchers that use the cache go on without it.
    public func close() async { await link.close() }
}

/// The connections of a cache. They stay open while a fetcher uses them, also if nobody holds the ``RedisCache``.
final class RedisLink: Sendable {
    let inbox: TierInbox
    private let closeConnections: @Sendable () async -> Void
    private let listening: Task<Void, Never>

    init(inbox: TierInbox, _ subscription: RedisSubscription, closeConnections: @escaping @Sendable () async -> Void) {
        self.inbox = inbox
        self.closeConnections = closeConnections
        listening = Task { await inbox.listen(to: subscription) }
    }

    deinit { listening.cancel() }

    func close() async {
        listening.cancel()
        await closeConnections()
    }
}

extension RedisCache: CustomReflectable {
    /// Requests under way name URLs, and these may hold secrets.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .class) }
}

extension RedisError {
    fileprivate init(_ error: any Error) {
        switch error {
        case let error as RedisError: self = error
        case StateError.redis(let error): self = error
        case let error as StateError: self.init(.otherSchema, error.description)
        default: self.init(.other, "\(error)")
        }
    }
}
