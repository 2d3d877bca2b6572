import GannetHTTP

@testable import GannetFetch

/// Asks one for the first download and another for the rest.
struct FirstElse: Downloader {
    let first: ScriptedOrigin
    let others: ScriptedOrigin

    func download(_ request: DownloadRequest, through gate: (any HopGate)?) async throws(FetchError) -> Download {
        first.requests.isEmpty ? try await first.download(request) : try await others.download(request)
    }
}
