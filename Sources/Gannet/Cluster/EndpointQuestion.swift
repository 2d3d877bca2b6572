internal import HTTPEngine

/// Asks a worker on this machine how it is.
package enum EndpointQuestion {
    /// The status of its answer.
    /// - Throws: A sentence when there is none in time.
    package static func status(of url: String, within time: Duration) async throws(EndpointFailure) -> Int {
        var settings = FetchSettings()
        settings.timeout = time
        settings.connectTimeout = time
        // The person who asks has named the address.
        settings.allowedNetworks = ["all"]
        do {
            let downloader = try CurlDownloader(settings)
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
