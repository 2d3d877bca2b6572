internal import GannetBase
package import GannetHTTP

/// A downloader without a network: answers as a test says, and keeps account of what it was asked.
package final class ScriptedDownloader: Downloader {
    package enum Answer: Sendable {
        case body(String)
        /// With these headers; a 304 to whoever names its `ETag`.
        case answer(String, [(String, String)])
        case failure(FetchError.Kind)
        /// Its URL as the body, once a test lets it go.
        case held
        /// Led on to another host, whose answer this is.
        indirect case led(to: String, Answer)
    }

    private struct State {
        var requests: [DownloadRequest] = []
        var active = 0
        var most = 0
        var cancelled = 0
        var isOpen = false
        var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
        var next = 0
        var arrived = 0
        var mostArrived = 0
    }

    private let state = Mutex(State())
    private let answer: @Sendable (String) -> Answer

    /// The URLs, each as its download begins.
    package let starts: AsyncStream<String>
    private let started: AsyncStream<String>.Continuation

    /// A transfer for each that was let go to another host, as it comes there.
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    package init(_ answer: @escaping @Sendable (String) -> Answer) {
        self.answer = answer
        (starts, started) = AsyncStream.makeStream(of: String.self)
        (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
    }

    /// Every URL that was asked for, in order.
    package var urls: [String] { requests.map(\.url) }
    package var requests: [DownloadRequest] { state.withLock { $0.requests } }
    /// The most downloads that ever ran at once.
    package var most: Int { state.withLock { $0.most } }
    package var cancelled: Int { state.withLock { $0.cancelled } }

    /// Returns when `count` more downloads have begun.
    package func waitForStarts(_ count: Int) async {
        var iterator = starts.makeAsyncIterator()
        for _ in 0..<count { _ = await iterator.next() }
    }

    /// The most that were at hosts to which they had been led, at once.
    package var mostArrived: Int { state.withLock { $0.mostArrived } }

    /// Returns when `count` more have come to hosts to which they were led.
    package func waitForArrivals(_ count: Int) async {
        var iterator = arrivals.makeAsyncIterator()
        for _ in 0..<count { _ = await iterator.next() }
    }

    /// Lets all that is held, and whatever is to come, have its body.
    package func open() {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            state.isOpen = true
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    package func download(_ request: DownloadRequest, through gate: (any HopGate)?) async throws(FetchError) -> Download {
        state.withLock { state in
            state.requests.append(request)
            state.active += 1
            state.most = max(state.most, state.active)
        }
        started.yield(request.url)
        defer { state.withLock { $0.active -= 1 } }
        return try await give(answer(request.url), request, gate)
    }

    private func give(_ answer: Answer, _ request: DownloadRequest, _ gate: (any HopGate)?) async throws(FetchError) -> Download {
        switch answer {
        case .led(let host, let next):
            guard let (from, to) = try? (CanonicalURL(request.url), CanonicalURL("http://\(host)/")),
                await gate?.admits(NextHop(from: from, to: to)) ?? true
            else { throw FetchError(kind: .cancelled, url: request.url) }
            state.withLock { state in
                state.arrived += 1
                state.mostArrived = max(state.mostArrived, state.arrived)
            }
            arrival.yield()
            defer { state.withLock { $0.arrived -= 1 } }
            return try await give(next, request, gate)
        case .failure(let kind): throw FetchError(kind: kind, url: request.url, detail: "as scripted")
        case .body(let text): return try store(text, request)
        case .answer(let text, let headers):
            let answerHeaders = ResponseHeaders(headers)
            if let reason = request.refusal?(answerHeaders) { throw FetchError(kind: .disallowed, url: request.url, detail: reason) }
            let asked = request.headers.first { $0.name.lowercased() == "if-none-match" }?.value
            let isKnown = asked != nil && asked == answerHeaders["etag"]
            var download = try store(isKnown ? "" : text, request)
            if isKnown { download.status = 304 }
            download.headers = answerHeaders
            return download
        case .held:
            do {
                try await waitForGate()
            } catch {
                state.withLock { $0.cancelled += 1 }
                throw FetchError(kind: .cancelled, url: request.url)
            }
            return try store(request.url, request)
        }
    }

    private func store(_ text: String, _ request: DownloadRequest) throws(FetchError) -> Download {
        let bytes = Array(text.utf8)
        let body: DownloadedBody
        switch request.body {
        case .memory(let most, _) where bytes.count <= most, .file(_, let most) where bytes.count <= most && most > 0:
            body = .bytes(bytes)
        case .file(let folder, _), .memory(_, let folder):
            let path = "\(folder)/.gannet-\(UInt64.random(in: .min ... .max))"
            guard write(bytes, to: path) else { throw FetchError(kind: .storage, url: request.url) }
            body = .file(path, SHA256Digest(of: bytes))
        }
        var download = Download(finalURL: request.url, bytes: bytes)
        download.body = body
        return download
    }

    private func write(_ bytes: [UInt8], to path: String) -> Bool {
        guard let file = fopen(path, "wx") else { return false }
        let written = fwrite(bytes, 1, bytes.count, file)
        return fclose(file) == 0 && written == bytes.count
    }

    private func waitForGate() async throws {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let mayGo: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.isOpen { return true }
                    state.waiters[id] = continuation
                    return nil
                }
                switch mayGo {
                case true?: continuation.resume()
                case false?: continuation.resume(throwing: CancellationError())
                case nil: break
                }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
    }
}
