import GannetFetch

/// Adds the marks of the last client to a request that the cache has decided to send.
struct MarkingDownloader: Downloader {
    let downloader: CurlDownloader
    let marks: SuiteMarks

    func download(_ request: DownloadRequest, through gate: (any HopGate)?) async throws(FetchError) -> Download {
        var request = request
        request.headers += marks.ofRequest(request.url)
        return try await downloader.download(request, through: gate)
    }
}
