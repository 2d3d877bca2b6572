import GannetHTTP

/// Asks a worker or a gateway on this machine how it is.
enum EndpointQuestion {
    /// The status of its answer.
    static func status(of url: String, within time: Duration) async throws(CommandFailure) -> Int {
        var settings = FetchSettings()
        settings.timeout = time
        settings.connectTimeout = time
        // The user has named the address.
        settings.allowedNetworks = ["all"]
        do {
            let downloader = try CurlDownloader(settings)
            defer { downloader.shutdown() }
            return try await downloader.download(DownloadRequest(url: url, body: .memory(upTo: 65_536, thenFileIn: "/"))).status
        } catch let error as FetchError {
            switch error.kind {
            case .status(let status): return status
            case .connect where error.detail.hasSuffix("Connection refused"):
                throw CommandFailure(
                    .unavailable, "Nobody listens at \(url): name the '--listen' of a worker that runs, or the '--bind' of a gateway.")
            default: throw CommandFailure(.unavailable, error.description)
            }
        } catch {
            throw CommandFailure(.unavailable, "\(error)")
        }
    }
}
