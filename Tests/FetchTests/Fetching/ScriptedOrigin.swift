import GannetHTTP
import GannetTestKit

@testable import GannetFetch

/// An origin without a network, and the clock by which its answers are kept.
final class ScriptedOrigin: Downloader {
    struct State: Sendable {
        var requests: [DownloadRequest] = []
        var answers: [Result<Download, FetchError>] = []
        var milliseconds: Int64 = 1_800_000_000_000
        var isHeld = false
    }

    let state = Monitor(State())

    var requests: [DownloadRequest] { state.update { $0.requests } }

    /// The names of the conditions in each request.
    var conditions: [[String]] { requests.map { $0.headers.map(\.name) } }

    /// The next answer that has not been given yet; the last one is given again and again.
    func answers(_ answers: Result<Download, FetchError>...) { state.update { $0.answers = answers } }

    func passes(_ time: Duration) { state.update { $0.milliseconds += Int64(time / .milliseconds(1)) } }

    /// Answers are given from now on only when `release` is called.
    func hold() { state.update { $0.isHeld = true } }
    func release() { state.update { $0.isHeld = false } }

    func asked(_ count: Int) async throws { try await state.wait { $0.requests.count >= count ? () : nil } }

    func download(_ request: DownloadRequest, through gate: (any HopGate)?) async throws(FetchError) -> Download {
        state.update { $0.requests.append(request) }
        do {
            try await state.wait { $0.isHeld ? nil : () }
        } catch {
            throw FetchError(kind: .cancelled, url: request.url)
        }
        return try state.update { state in
            state.answers.count > 1 ? state.answers.removeFirst() : state.answers.first ?? .failure(FetchError(kind: .connect, url: ""))
        }.get()
    }

    /// An answer with these headers.
    static func ok(_ text: String, _ headers: (String, String)...) -> Result<Download, FetchError> {
        .success(
            Download(
                finalURL: "http://a/", headers: ResponseHeaders(headers.map { (name: $0.0, value: $0.1) }), bytes: Array(text.utf8)))
    }

    static func notModified(_ headers: (String, String)...) -> Result<Download, FetchError> {
        .success(Download(finalURL: "http://a/", status: 304, headers: ResponseHeaders(headers.map { (name: $0.0, value: $0.1) })))
    }

    static func failure(_ kind: FetchError.Kind) -> Result<Download, FetchError> { .failure(FetchError(kind: kind, url: "http://a/")) }

    func fetch(_ change: (inout CachingFetch.Parts) -> Void = { _ in }) -> CachingFetch {
        var parts = CachingFetch.Parts(downloader: self, memory: MemoryCache(MemoryCacheOptions(costLimit: 1 << 20, countLimit: 100)))
        parts.now = { [state] in Moment(millisecondsSince1970: state.update { $0.milliseconds }) }
        parts.random = { 0 }
        change(&parts)
        return CachingFetch(parts)
    }
}

extension CachingFetch {
    /// The answer's text and where it came from.
    func text(_ change: (inout AnswerRequest) -> Void = { _ in }) async throws -> String {
        let served = try await serve(AnswerRequest("http://a/", change)).get()
        return "\(String(decoding: served.body, as: UTF8.self)) from \(served.source)"
    }
}
