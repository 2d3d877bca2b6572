internal import FetchCache
package import HTTPEngine

/// URLs for a caller without a job.
extension Cluster {
    /// What a URL's body came to.
    package enum Fetched: Sendable {
        case body([UInt8])
        /// A sentence that names the URL.
        case failed(String)
    }

    /// Fetches for a caller who ends it.
    package func fetching(_ settings: FetchSettings, _ options: ClusterFetch.Options) async throws(WorkerFailure) -> ClusterFetch {
        try await ClusterFetch(control, namespace: namespace, settings, options)
    }

    /// The body of one URL.
    package func fetch(
        _ url: String, _ settings: FetchSettings, _ options: ClusterFetch.Options
    ) async throws(WorkerFailure) -> Fetched {
        let fetch = try await fetching(settings, options)
        let outcome = await fetch.answer(url)
        await fetch.close()
        switch outcome {
        case .success(let answer): return .body(answer.body)
        case .failure(let error): return .failed(error.description)
        }
    }
}
