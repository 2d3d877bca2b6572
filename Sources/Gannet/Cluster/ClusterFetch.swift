internal import ClusterState
internal import FetchCache
internal import GannetFetch
internal import HTTPCaching
internal import HTTPEngine
internal import RedisClient

/// Fetches URLs for a caller without a job: from the shared cache, or else from their origins, which are asked by nobody else meanwhile.
package struct ClusterFetch: Sendable {
    private let downloader: CurlDownloader
    private let cache: RedisCache
    private let fetch: CachingFetch
    private let headers: ExtraHeaders
    private let refresh: Bool
    private let maximumAge: Duration?

    init(
        _ control: RedisConnection, namespace: String, _ settings: FetchSettings, _ options: Options
    ) async throws(WorkerFailure) {
        let downloader = try settings.makeDownloader(concurrency: options.concurrency)
        do throws(ClusterError) {
            cache = try await RedisCache.connect(
                to: control.configuration, namespace: namespace, lease: options.lease, bodyLimit: options.bodyLimit)
        } catch {
            downloader.shutdown()
            throw .cluster(error)
        }
        self.downloader = downloader
        var parts = CachingFetch.Parts(downloader: downloader, memory: MemoryCache(MemoryCacheOptions(costLimit: 0)))
        parts.shared = cache.shared.tier
        parts.maximumBody = settings.maximumBody
        parts.maximumInFlight = options.concurrency
        fetch = CachingFetch(parts)
        headers = options.headers
        refresh = options.refresh
        maximumAge = options.maximumAge
    }

    /// How URLs are fetched, beside what their requests are like.
    package struct Options: Sendable {
        package var concurrency = 1
        /// For how long others are kept from a URL by a caller that dies.
        package var lease = Duration.seconds(30)
        /// Bytes of Redis' memory for bodies.
        package var bodyLimit = 1_000_000_000
        /// Sent with each request, and a part of what its URL is.
        package var headers = ExtraHeaders.none
        package var refresh = false
        package var maximumAge: Duration?

        package init() {}
    }

    func answer(_ url: String) async -> Result<ServedAnswer, FetchError> {
        let request = FetchRequest(url) {
            $0.headers = headers.fields
            $0.refresh = refresh
            $0.maximumAge = maximumAge
        }
        return await fetch.serve(request)
    }

    /// Ends what is under way, and the connections.
    package func close() async {
        // Also when we are cancelled: a lease that is not given up keeps the URL from everybody until it ends.
        await Task {
            await fetch.close()
            await cache.close()
        }.value
        downloader.shutdown()
    }
}
