internal import GannetBase
internal import GannetHTTP

/// The engine, which starts with the first download: a program that fetches nothing has no thread for it.
final class LazyEngine: Downloader {
    private enum State {
        case idle
        case running(CurlDownloader)
        case over
    }

    private let settings: FetchSettings
    private let state = Mutex(State.idle)

    init(_ settings: FetchSettings) { self.settings = settings }

    func download(_ request: DownloadRequest, through gate: (any HopGate)?) async throws(FetchError) -> Download {
        try await engine(for: request.url).download(request, through: gate)
    }

    func shutdown() {
        let engine = state.withLock { state -> CurlDownloader? in
            defer { state = .over }
            if case .running(let engine) = state { return engine }
            return nil
        }
        engine?.shutdown()
    }

    private func engine(for url: String) throws(FetchError) -> CurlDownloader {
        try state.withLock { state throws(FetchError) in
            switch state {
            case .running(let engine): return engine
            case .over: throw FetchError(kind: .cancelled, url: url, detail: "the fetcher was closed")
            case .idle:
                do throws(InvalidOptions) {
                    let engine = try CurlDownloader(settings)
                    state = .running(engine)
                    return engine
                } catch {
                    throw FetchError(kind: .systemLimit, url: url, detail: error.description)
                }
            }
        }
    }
}
