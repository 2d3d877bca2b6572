internal import GannetHTTP
internal import Results

/// Turns the answer for a robots.txt into an answer that all workers may keep. It has the file's bytes, or none where there is no file, and a
/// lifetime within bounds. Whatever else its head says, such as `no-store` or `Vary`, would have each worker ask again.
struct RobotsDownloader: Downloader {
    let engine: any Downloader

    /// An origin is not asked again before this time, whatever it says of its file.
    static let shortestUse = Duration.seconds(300)

    func download(_ request: DownloadRequest, through gate: (any HopGate)?) async throws(FetchError) -> Download {
        var request = request
        // One byte more than is read tells that the last line is a part of one.
        request.cut = RobotsFile.maximumLength + 1
        let facts = RequestFacts(url: request.url, headers: request.headers)
        let start = Moment.now
        do throws(FetchError) {
            let download = try await engine.download(request, through: gate)
            let exchange = Exchange(download, request: facts, requestedAt: start, receivedAt: .now)
            guard case .bytes(let bytes) = download.body else {
                download.body.discard()
                throw FetchError(kind: .engine, url: request.url, detail: "the body is not in memory")
            }
            return answer(request.url, bytes, for: Self.lifetime(exchange, download.headers))
        } catch {
            guard Self.isAbsent(error) else { throw Self.understood(error) }
            let refusal = Download(finalURL: request.url, status: 404, headers: error.headers)
            let exchange = Exchange(refusal, request: facts, requestedAt: start, receivedAt: .now)
            return answer(request.url, [], for: Self.lifetime(exchange, error.headers))
        }
    }

    private func answer(_ url: String, _ bytes: [UInt8], for time: Duration) -> Download {
        let headers = ResponseHeaders([("Cache-Control", "max-age=\(time.components.seconds)")])
        return Download(finalURL: url, headers: headers, bytes: bytes)
    }

    /// Whether there is no such file (RFC 9309, sections 2.3.1.2 and 2.3.1.3): the origin says so, or leads too far or nowhere. A host that
    /// is too busy has not said so.
    static func isAbsent(_ error: FetchError) -> Bool {
        switch error.kind {
        case .status(300...499): error.retry.isForEver
        case .tooManyRedirects, .refusedRedirect: true
        default: false
        }
    }

    /// A status that HTTP does not have counts as a 5xx (RFC 9110, section 15): the file cannot be read for now.
    static func understood(_ error: FetchError) -> FetchError {
        guard case .status(let status) = error.kind, status > 599 else { return error }
        var error = error
        (error.kind, error.detail) = (.status(500), "the status was \(status), which HTTP has no meaning for")
        return error
    }

    private static func lifetime(_ exchange: Exchange, _ headers: ResponseHeaders) -> Duration {
        let freshness = Freshness(of: exchange, policy: FreshnessPolicy())
        let told: Duration
        switch freshness.source {
        case .sharedMaxAge, .maxAge, .expires, .invalid: told = freshness.freshUntil - exchange.receivedAt
        case .unknown, .heuristic:
            let control = CacheControl(headers)
            told = control.noStore || control.noCache == .everything ? .zero : Sites.longestUse
        }
        return min(max(told, shortestUse), Sites.longestUse)
    }
}
