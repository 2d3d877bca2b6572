internal import GannetFetch
internal import GannetHTTP
internal import GannetQueue
internal import GannetRedis
internal import GannetRedisClient

/// Fetches each robots.txt once for the whole fleet, as a caller without a job: its lock, its outcome and its body are in Redis like those of
/// other URLs. It uses the engine and the connections of its worker.
///
/// Its requests take no place of a host. The job that waits for the rules has one already, and this is its first request.
actor RobotsFetch {
    private let cluster: ClusterState
    private let bodies: RedisConnection
    private let subscriber: RedisSubscriber
    private let engine: any Downloader
    private let settings: FetchSettings
    private let concurrency: Int
    /// A worker whose jobs obey nobody has no use for it.
    private var opening: Task<ClusterFetch, any Error>?

    /// It makes the key of the answer another one than that of a job for the same URL, which may have other rules.
    private static let accept = HeaderField(name: "Accept", value: "text/plain, */*;q=0.5")
    /// Failures are the news of a moment: each job that meets one makes another attempt, and the host's rest lies between these.
    private static let failureRemembered = Duration.milliseconds(100)

    init(
        _ cluster: ClusterState, bodies: RedisConnection, _ subscriber: RedisSubscriber, _ engine: any Downloader,
        _ settings: FetchSettings, concurrency: Int
    ) {
        (self.cluster, self.bodies, self.subscriber) = (cluster, bodies, subscriber)
        self.engine = engine
        self.settings = settings
        self.concurrency = concurrency
    }

    func file(_ url: String) async -> Result<Sites.File, FetchError> {
        let fetch: ClusterFetch
        do {
            fetch = try await opened()
        } catch {
            // The job is tried again, and asks Redis again then.
            return .failure(FetchError(kind: .timeout(.deadline), url: url, detail: "\(error)"))
        }
        let request = AnswerRequest(url) { $0.headers = Self.accept.map { [$0] } ?? [] }
        // The engine ends a request by the times of its parts, and its failure says which host was silent. This end is only for other
        // processes that have the file in hand.
        return await fetch.answer(request, within: Self.patience(settings)).map {
            Sites.File(
                bytes: $0.body, freshFor: $0.freshFor(at: .now) ?? RobotsDownloader.shortestUse, isNew: $0.source == .network)
        }
    }

    private static func patience(_ settings: FetchSettings) -> Duration { settings.timeout * 2 + .seconds(2) }

    private func opened() async throws -> ClusterFetch {
        let task =
            opening
            ?? Task { [cluster, bodies, subscriber, engine, settings, options] in
                let cache = try await RedisCache.over(
                    cluster, bodies: bodies, subscriber: subscriber, lease: options.lease, longestHold: Self.patience(settings),
                    bodyLimit: options.bodyLimit)
                return ClusterFetch(cluster, cache, RobotsDownloader(engine: engine), settings, options)
            }
        opening = task
        do {
            return try await task.value
        } catch {
            opening = nil
            throw error
        }
    }

    private var options: ClusterFetch.Options {
        var options = ClusterFetch.Options()
        options.concurrency = concurrency
        options.freshness = FreshnessPolicy {
            $0.maximumLifetime = Sites.longestUse
            $0.earlyRefreshFactor = 0
            $0.failures = .brief
            ($0.failures.unreachable, $0.failures.failing) = (Self.failureRemembered, Self.failureRemembered)
            ($0.failures.throttled, $0.failures.maximum) = (Self.failureRemembered, .seconds(300))
        }
        return options
    }

    func close() async {
        guard let opening else { return }
        self.opening = nil
        await (try? opening.value)?.close()
    }
}
