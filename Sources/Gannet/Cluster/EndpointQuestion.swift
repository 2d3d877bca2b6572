internal import HTTPEngine

/// Asks a worker on this machine how it is.
package enum EndpointQuestion {
    /// The status of its answer.
    /// - Throws: A sentence when there is none in time.
    package static func status(of url: String, within time: Duration) async throws(EndpointFailure) -> Int {
        var options = DownloaderOptions()
        options.timeout = time
        options.connectTimeout = time
        do {
            // Whoever asks has named the address.
            options.addressGuard = try AddressGuard(parsing: ["all"])
            let downloader = try CurlDownloader(options)
            defer { downloader.shutdown() }
            return try await downloader.download(DownloadRequest(url: url, body: .memory(upTo: 65_536, thenFileIn: "/"))).status
        } catch let error as FetchError {
            guard case .status(let status) = error.kind else { throw EndpointFailure(description: error.description) }
            return status
        } catch {
            throw EndpointFailure(description: "\(error)")
        }
    }
}

/// Why there was no answer, as a sentence.
package struct EndpointFailure: Error, Sendable, CustomStringConvertible {
    package let description: String
}
