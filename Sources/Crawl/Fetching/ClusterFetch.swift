package import GannetFetch
package import GannetHTTP
package import GannetQueue
internal import GannetRedis
internal import GannetRedisClient

/// Fetches URLs for a caller without a job: from the shared cache, or else from their origins. Nobody else fetches the same URL meanwhile.
package struct ClusterFetch: Sendable {
    private let cluster: ClusterState
    /// The engine that ends with these fetches; nil where it is the caller's.
    private let ownEngine: CurlDownloader?
    private let cache: RedisCache
    private let fetch: CachingFetch
    private let headers: RequestHeaders
    private let refresh: Bool
    private let maximumAge: Duration?
    /// Bytes of memory that kept answers may take.
    package let memoryLimit: Int

    /// - Throws: `StateError`, or `InvalidOptions`.
    package init(_ cluster: ClusterState, _ settings: FetchSettings, _ options: Options) async throws {
        let downloader = try settings.makeDownloader(concurrency: options.concurrency)
        let cache: RedisCache
        do {
            let politeness = HostPoliteness(options.host, patience: options.hostPatience, longestWait: settings.timeout)
            cache = try await RedisCache.connect(
                to: cluster.connection.configuration, namespace: cluster.namespace, lease: options.lease,
                longestHold: settings.longestTransfer * (options.retries + 1) + Self.holdMargin, bodyLimit: options.bodyLimit,
                politeness, full: options.full)
        } catch {
            downloader.shutdown()
            throw error
        }
        self.init(cluster, cache, downloader, ownEngine: downloader, settings, options)
    }

    /// Fetches through an engine and a cache.
    init(
        _ cluster: ClusterState, _ cache: RedisCache, _ engine: any Downloader, ownEngine: CurlDownloader? = nil, _ settings: FetchSettings,
        _ options: Options
    ) {
        self.cluster = cluster
        self.cache = cache
        self.ownEngine = ownEngine
        var parts = CachingFetch.Parts(
            downloader: engine, memory: MemoryCache(MemoryCacheOptions(costLimit: options.memoryLimit)))
        parts.shared = cache.shared.tier
        parts.policy = options.freshness
        parts.maximumBody = settings.maximumBody
        parts.maximumInFlight = options.concurrency
        parts.sharedHosts = cache.hosts
        parts.maximumAtHost = cache.hosts == nil ? nil : options.host.limit
        parts.retries.most = options.retries
        parts.callersAreOne = false
        fetch = CachingFetch(parts)
        headers = options.headers
        refresh = options.refresh
        maximumAge = options.maximumAge
        memoryLimit = options.memoryLimit
    }

    /// For the waits before requests and between them.
    private static let holdMargin = Duration.seconds(3600)

    /// How URLs are fetched, beside what their requests are like.
    package struct Options: Sendable {
        package var concurrency = 1
        /// For how long a caller that dies keeps others from a URL. A living caller extends its lease three times within this time.
        package var lease = Duration.seconds(6)
        /// Bytes of Redis' memory for bodies.
        package var bodyLimit = 1_000_000_000
        /// Bytes of this process' memory for answers that are asked for again.
        package var memoryLimit = 0
        /// The politeness towards hosts for which no rule is stored. Workers and callers share the places of a host.
        package var host = HostRule(limit: 8)
        /// A host that does not answer is given up after this.
        package var hostPatience = HostPatience.endless
        /// Attempts after the first, while callers wait.
        package var retries = 0
        /// Sent with each request. They make it another request of its URL.
        package var headers = RequestHeaders.none
        /// Called once, when Redis has no memory for a body.
        package var full: (@Sendable () -> Void)?
        package var refresh = false
        package var maximumAge: Duration?
        /// An image has no other rules than a page here, and a URL that has just failed is not asked for again.
        package var freshness = FreshnessPolicy {
            $0.heuristicForImages = .zero
            $0.failures = .brief
        }

        package init() {}
    }

    /// The body of one URL.
    /// - Returns: In place of a body the error, and the failure of an earlier fetch where this one made no request because of it.
    package func body(of url: String) async -> (Result<[UInt8], FetchError>, remembered: RememberedFailure?) {
        let (answer, remembered) = await answer(url)
        return (answer.map(\.body), remembered)
    }

    func answer(_ url: String) async -> (Result<ServedAnswer, FetchError>, remembered: RememberedFailure?) {
        let request = AnswerRequest(url) {
            $0.headers = headers.fields
            $0.refresh = refresh
            $0.maximumAge = maximumAge
        }
        let start = ContinuousClock.now
        let answer = await fetch.serve(request)
        guard case .failure = answer else { return (answer, nil) }
        return (answer, await remembered(url, since: start))
    }

    /// The answer to a request of a client.
    /// - Parameters:
    ///   - time: How long the client waits.
    ///   - body: Hears of the body when its transfer begins.
    package func answer(
        _ request: AnswerRequest, within time: Duration?, body: BodyListener? = nil
    ) async -> Result<ServedAnswer, FetchError> {
        await fetch.serve(request, Caller(ChangingPriority(request.priority), body: body, deadline: time))
    }

    /// The answer, if it is in memory and may be used as it is.
    package func answerAtOnce(_ request: AnswerRequest) -> ServedAnswer? { fetch.servedAtOnce(request) }

    /// Whether a body that is still coming may go to callers that have joined its fetch. Of redirects nothing is known here.
    package func mayBeShared(_ head: GrowingBody.Head, of request: AnswerRequest) -> Bool {
        (try? CanonicalURL(request.url))?.text == head.finalURL
            && !StorageDecision.isForOneRequest(
                status: head.status, headers: head.headers, RequestFacts(url: request.url, headers: request.headers))
    }

    /// Counts of its fetches since it was made.
    package var statistics: FetchStatistics { fetch.statistics }

    /// Removes the kept answer of a URL, here and in Redis. Throws when Redis cannot be reached, and may keep it.
    package func forget(_ request: AnswerRequest) async throws { try await fetch.remove(request) }

    /// The failure of this URL, if it is older than a call that began at `start`. So neither this call nor another one meanwhile made a request.
    private func remembered(_ url: String, since start: ContinuousClock.Instant) async -> RememberedFailure? {
        guard !refresh, let requested = try? RequestedURL(url, headers: headers),
            let outcome = try? await cluster.outcome(requested.id, host: requested.host), let now = try? await cluster.now(),
            let failure = outcome.remembered(at: now), failure.age > ContinuousClock.now - start
        else { return nil }
        return failure
    }

    /// Ends what is under way, and the connections.
    package func close() async {
        // Also for a cancelled caller: a lease that is not given up keeps the URL from all others until it ends.
        await Task {
            await fetch.close()
            await cache.close()
        }.value
        ownEngine?.shutdown()
    }
}
