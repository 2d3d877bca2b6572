import Foundation
import Threads

@testable import HTTPEngine

/// Answers as a test says, and keeps account of what it was asked.
final class ScriptedDownloader: Downloader {
    enum Answer: Sendable {
        case body(String)
        case failure(FetchError.Kind)
        /// Its URL as the body, once the gate is open.
        case held
    }

    private struct State {
        var urls: [String] = []
        var active = 0
        var most = 0
        var cancelled = 0
        var isOpen = false
        var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
        var next = 0
    }

    private let state = Mutex(State())
    private let answer: @Sendable (String) -> Answer

    /// The URLs, each as its download begins.
    let starts: AsyncStream<String>
    private let started: AsyncStream<String>.Continuation

    init(_ answer: @escaping @Sendable (String) -> Answer) {
        self.answer = answer
        (starts, started) = AsyncStream.makeStream(of: String.self)
    }

    /// Every URL that was asked for, in order.
    var urls: [String] { state.withLock { $0.urls } }
    /// The most downloads that ever ran at once.
    var most: Int { state.withLock { $0.most } }
    var cancelled: Int { state.withLock { $0.cancelled } }

    /// Returns when `count` more downloads have begun.
    func waitForStarts(_ count: Int) async {
        var iterator = starts.makeAsyncIterator()
        for _ in 0..<count { _ = await iterator.next() }
    }

    /// Lets all that is held, and whatever is to come, have its body.
    func open() {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            state.isOpen = true
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    func download(_ request: DownloadRequest) async throws(FetchError) -> Download {
        state.withLock { state in
            state.urls.append(request.url)
            state.active += 1
            state.most = max(state.most, state.active)
        }
        started.yield(request.url)
        defer { state.withLock { $0.active -= 1 } }
        switch answer(request.url) {
        case .failure(let kind): throw FetchError(kind: kind, url: request.url, detail: "as scripted")
        case .body(let text): return try store(text, request)
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
        let file = request.bodyFolder + "/.gannet-" + UUID().uuidString
        let body = Array(text.utf8)
        do { try Data(body).write(to: URL(fileURLWithPath: file)) } catch { throw FetchError(kind: .storage, url: request.url) }
        return Download(
            finalURL: request.url, status: 200, contentType: nil, byteCount: Int64(body.count), digest: SHA256Digest(of: body), file: file,
            duration: .zero, redirects: 0)
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
