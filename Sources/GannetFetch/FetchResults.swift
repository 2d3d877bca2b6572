internal import GannetBasics
internal import HTTPEngine

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The results of many URLs, in the order they come. To be gone through once.
public struct FetchResults: AsyncSequence {
    public typealias Element = FetchResult
    public typealias Failure = Never

    private let atOnce: Int
    private let next: () -> URL?
    private let fetch: @Sendable (URL) async throws(FetchError) -> Data

    init(atOnce: Int, next: @escaping () -> URL?, fetch: @escaping @Sendable (URL) async throws(FetchError) -> Data) {
        self.atOnce = atOnce
        self.next = next
        self.fetch = fetch
    }

    /// Whoever holds it, and not the sequence, keeps what is under way. A second one goes on with the URLs that the first has left.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(atOnce: atOnce, next: next, fetch: fetch) }

    /// Begins fetches as results are asked for; when nobody holds it any more, what is under way is called off.
    public final class AsyncIterator: AsyncIteratorProtocol {
        private let atOnce: Int
        private let source: () -> URL?
        private let fetch: @Sendable (URL) async throws(FetchError) -> Data
        private let arrivals = Arrivals()
        private var tasks: [Int: Task<Void, Never>] = [:]
        private var isAtEnd = false
        private var last = 0

        init(atOnce: Int, next: @escaping () -> URL?, fetch: @escaping @Sendable (URL) async throws(FetchError) -> Data) {
            self.atOnce = atOnce
            self.fetch = fetch
            source = next
        }

        deinit {
            for task in tasks.values { task.cancel() }
        }

        /// The next result; `nil` after the last one, and when the task is cancelled.
        public func next(isolation actor: isolated (any Actor)? = #isolation) async -> FetchResult? {
            if Task.isCancelled { callOff() }
            fill()
            guard !tasks.isEmpty else { return nil }
            guard let (number, result) = await arrivals.next() else {
                callOff()
                return nil
            }
            tasks[number] = nil
            return result
        }

        public func next() async -> FetchResult? { await next(isolation: nil) }

        private func fill() {
            while !isAtEnd, tasks.count < atOnce {
                guard let url = source() else {
                    isAtEnd = true
                    return
                }
                last += 1
                let number = last
                tasks[number] = Task { [fetch, arrivals] in
                    let result: Result<Data, FetchError>
                    do throws(FetchError) {
                        result = .success(try await fetch(url))
                    } catch {
                        result = .failure(error)
                    }
                    arrivals.add(number, FetchResult(url: url, result: result))
                }
            }
        }

        private func callOff() {
            for task in tasks.values { task.cancel() }
            tasks = [:]
            isAtEnd = true
        }
    }
}

/// Results on their way from the fetches to the one who takes them.
private final class Arrivals: Sendable {
    typealias Arrival = (number: Int, result: FetchResult)

    private struct State {
        var arrived: [Arrival] = []
        var taker: CheckedContinuation<Arrival?, Never>?
    }

    private let state = Mutex(State())

    func add(_ number: Int, _ result: FetchResult) {
        let taker = state.withLock { state in
            defer { state.taker = nil }
            if state.taker == nil { state.arrived.insert((number, result), at: 0) }
            return state.taker
        }
        taker?.resume(returning: (number, result))
    }

    /// `nil` when the task is cancelled.
    func next() async -> Arrival? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (arrival, isCancelled) = state.withLock { state -> (Arrival?, Bool) in
                    if let arrival = state.arrived.popLast() { return (arrival, false) }
                    // A cancellation before this found nobody to wake.
                    if Task.isCancelled { return (nil, true) }
                    state.taker = continuation
                    return (nil, false)
                }
                if arrival != nil || isCancelled { continuation.resume(returning: arrival) }
            }
        } onCancel: {
            let taker = state.withLock { state in
                defer { state.taker = nil }
                return state.taker
            }
            taker?.resume(returning: nil)
        }
    }
}
