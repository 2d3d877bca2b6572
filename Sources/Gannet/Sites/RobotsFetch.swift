internal import ClusterState
internal import FetchCache
internal import GannetRedis
internal import HTTPCaching
internal import HTTPEngine

/// Fetches each robots.txt once for the whole fleet, as a caller without a job: its lock, its outcome and its body are in Redis like those of
/// other URLs.
///
/// Its requests take no place of a host. The job that waits for the rules has one already, and would wait for itself.
actor RobotsFetch {
    private let cluster: ClusterState
    private let settings: FetchSettings
    private let concurrency: Int
    /// Failures that may pass are not told to other jobs for longer than one worker keeps them.
    private let remembered: Duration
    /// A worker whose jobs obey nobody opens no connections for this.
    private var opening: Task<ClusterFetch, any Error>?

    /// It makes the key of the answer another one than that of a job for the same URL, which may have other rules.
    private static let accept = HeaderField(name: "Accept", value: "text/plain, */*;q=0.5")
    private static let mostAtOnce = 64
    private static let mostRedirects = 5
    private static let longestRemembered = Duration.seconds(300)

    /// - Parameter settings: The settings of the worker's other requests. Their proxy, address guard, certificates and user agent hold here too.
    init(_ cluster: ClusterState, _ settings: FetchSettings, concurrency: Int, pause: Duration) {
        remembered = pause / 2
        self.cluster = cluster
        self.concurrency = min(concurrency, Self.mostAtOnce)
        var settings = settings
        // Both attempts have this time, so that no job waits longer for the file than for its own answer.
        settings.timeout = min(settings.timeout, Sites.longestLook)
        settings.connectTimeout = min(settings.connectTimeout, Sites.longestLook)
        settings.maximumRedirects = Self.mostRedirects
        // The downloader cuts the file.
        settings.maximumBody = Int64(FetchSettings.bodySizes.upperBound)
        self.settings = settings
    }

    func file(_ url: String) async -> Result<Sites.File, FetchError> {
        let fetch: ClusterFetch
        do {
            fetch = try await opened()
        } catch {
            // The jobs are put off, and what they wait for is tried again then.
            return .failure(FetchError(kind: .timeout(.deadline), url: url, detail: "\(error)"))
        }
        let request = AnswerRequest(url) { $0.headers = Self.accept.map { [$0] } ?? [] }
        return await fetch.answer(request, within: settings.timeout).map {
            Sites.File(bytes: $0.body, freshFor: $0.freshFor(at: .now) ?? RobotsDownloader.shortestUse)
        }
    }

    private func opened() async throws -> ClusterFetch {
        let task = opening ?? Task { [cluster, settings, options] in try await ClusterFetch(cluster, settings, options) }
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
        options.takesPlaces = false
        options.wrap = { RobotsDownloader(engine: $0) }
        options.retries = 1
        options.freshness = FreshnessPolicy {
            $0.maximumLifetime = Sites.longestUse
            $0.earlyRefreshFactor = 0
            $0.failures = .brief
            ($0.failures.unreachable, $0.failures.failing, $0.failures.throttled) = (remembered, remembered, remembered)
            $0.failures.maximum = Self.longestRemembered
        }
        return options
    }

    func close() async {
        guard let opening else { return }
        self.opening = nil
        await (try? opening.value)?.close()
    }
}
