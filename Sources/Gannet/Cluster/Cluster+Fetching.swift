internal import ClusterState
internal import FetchCache
internal import GannetFetch
internal import HTTPEngine
internal import RedisClient

/// One URL for one caller, without a job.
extension Cluster {
    /// What a URL's body came to.
    package enum Fetched: Sendable {
        case body([UInt8])
        /// A sentence that names the URL.
        case failed(String)
    }

    /// The body of a URL from the shared cache, or else from its origin, which is asked by nobody else meanwhile.
    package func fetch(
        _ url: String, headers: ExtraHeaders, _ settings: FetchSettings, refresh: Bool, maximumAge: Duration?, lease: Duration,
        bodyLimit: Int
    ) async throws(WorkerFailure) -> Fetched {
        let downloader = try settings.makeDownloader(concurrency: 1)
        defer { downloader.shutdown() }
        let cache: RedisCache
        do throws(ClusterError) {
            cache = try await RedisCache.connect(to: control.configuration, namespace: namespace, lease: lease, bodyLimit: bodyLimit)
        } catch {
            throw .cluster(error)
        }
        var parts = CachingFetch.Parts(downloader: downloader, memory: MemoryCache(MemoryCacheOptions(costLimit: 0)))
        parts.shared = cache.shared.tier
        parts.maximumBody = Int64(settings.maximumBody)
        let fetch = CachingFetch(parts)
        let request = FetchRequest(url) {
            $0.headers = headers.fields
            $0.refresh = refresh
            $0.maximumAge = maximumAge
        }
        let outcome = await fetch.serve(request)
        // Also when we are cancelled: a lease that is not given up keeps the URL from everybody until it ends.
        await Task {
            await fetch.close()
            await cache.close()
        }.value
        switch outcome {
        case .success(let answer): return .body(answer.body)
        case .failure(let error): return .failed(error.description)
        }
    }
}
