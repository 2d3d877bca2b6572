public import FetchCache
internal import GannetBasics
internal import HTTPEngine

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Lists of URLs.
extension Fetcher {
    /// Fetches many URLs, and delivers each body as soon as it is there.
    ///
    /// The number of fetches ahead of the loop is limited by `maximumInFlight`. So results do not pile up for a slow loop, and the sequence
    /// of URLs may be endless. When the loop ends, or its task is cancelled, the other fetches are cancelled.
    ///
    /// ```swift
    /// for await item in fetcher.results(for: urls) {
    ///     show(item.result, for: item.url)
    /// }
    /// ```
    public func results(for urls: some Sequence<URL>, priority: FetchPriority = .normal) -> FetchResults<Data> {
        many(urls) { url throws(FetchError) in try await self.data(for: FetchRequest(url, priority: priority)) }
    }

    /// Makes a value of each URL's body, as ``value(from:variant:cost:transform:)`` does, and delivers it as soon as it is there.
    public func results<Value: Sendable>(
        for urls: some Sequence<URL>, priority: FetchPriority = .normal, variant: String = "", cost: (@Sendable (Value) -> Int)? = nil,
        transform: @escaping @Sendable (Data) async throws -> Value
    ) -> FetchResults<Value> {
        many(urls) { url throws(FetchError) in
            try await self.value(for: FetchRequest(url, priority: priority), variant: variant, cost: cost, transform: transform)
        }
    }

    /// Fetches many images, and delivers each as soon as it is there, with its format and size.
    public func images(from urls: some Sequence<URL>, priority: FetchPriority = .normal) -> FetchResults<FetchedImage> {
        many(urls) { url throws(FetchError) in try await self.image(for: FetchRequest(url, priority: priority)) }
    }

    /// Fetches URLs into the tiers in the background: every other fetch comes first. A failure is reported only to later callers of the URL.
    ///
    /// Returns how many URLs could be fetched, and how many could not. A URL whose answer was kept already counts as fetched, and so does
    /// one whose origin forbids to keep its answer. When the task is cancelled, the prefetch ends early.
    @discardableResult
    public func prefetch(_ urls: some Sequence<URL>) async -> PrefetchProgress {
        var last = PrefetchProgress()
        for await progress in prefetching(urls) { last = progress }
        return last
    }

    /// The same as ``prefetch(_:)``, and tells how far it is. A loop hears the latest state and may miss states in between. When the loop
    /// ends, the prefetch ends.
    public func prefetching(_ urls: some Sequence<URL>) -> AsyncStream<PrefetchProgress> {
        let urls = Array(urls)
        let (stream, continuation) = AsyncStream.makeStream(of: PrefetchProgress.self, bufferingPolicy: .bufferingNewest(1))
        let count = PrefetchCount(urls.count) { continuation.yield($0) }
        let task = Task {
            // Without a URL there is one state all the same.
            count.publish()
            let results = many(urls) { url throws(FetchError) in
                let transfer = count.begin()
                defer { count.end(transfer) }
                let request = try FetchRequest(url, priority: .background).checked()
                let caller = Caller(ChangingPriority(.background)) { count.report($0, of: transfer) }
                _ = try await self.fetch.serve(request, caller).get()
            }
            for await item in results { count.ended(item.result) }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    private func many<Value: Sendable>(
        _ urls: some Sequence<URL>, _ fetch: @escaping @Sendable (URL) async throws(FetchError) -> Value
    ) -> FetchResults<Value> {
        var iterator = urls.makeIterator()
        return FetchResults(atOnce: options.maximumInFlight, next: { iterator.next() }, fetch: fetch)
    }
}

/// How far a prefetch is.
public struct PrefetchProgress: Sendable, Hashable {
    /// All URLs of the prefetch.
    public var urls = 0
    /// URLs whose answers are there.
    public var fetched = 0
    /// URLs that could not be fetched.
    public var failed = 0
    /// Bytes that have come so far.
    public var received: Int64 = 0
    /// The bytes of all transfers that have begun; nil while the length of one of them is unknown.
    public var expected: Int64?

    init() {}
}

/// Adds up the progress of a prefetch's transfers.
private final class PrefetchCount: Sendable {
    private struct State {
        var progress = PrefetchProgress()
        /// Transfers that have begun and not ended.
        var begun: Set<Int> = []
        var running: [Int: FetchProgress] = [:]
        var last = 0
        var endedBytes: Int64 = 0
    }

    private let state = Mutex(State())
    private let hear: @Sendable (PrefetchProgress) -> Void

    init(_ urls: Int, _ hear: @escaping @Sendable (PrefetchProgress) -> Void) {
        self.hear = hear
        state.withLock { $0.progress.urls = urls }
    }

    func begin() -> Int {
        state.withLock { state in
            state.last += 1
            state.begun.insert(state.last)
            return state.last
        }
    }

    /// A report may come late, when its transfer has been counted already.
    func report(_ progress: FetchProgress, of transfer: Int) {
        publish { state in if state.begun.contains(transfer) { state.running[transfer] = progress } }
    }

    func end(_ transfer: Int) {
        state.withLock { state in
            state.begun.remove(transfer)
            state.endedBytes += state.running.removeValue(forKey: transfer)?.received ?? 0
        }
    }

    func ended(_ result: Result<Void, FetchError>) {
        publish { state in
            if case .success = result { state.progress.fetched += 1 } else { state.progress.failed += 1 }
        }
    }

    func publish() { publish { _ in } }

    private func publish(_ change: (inout State) -> Void) {
        let progress = state.withLock { state in
            change(&state)
            state.progress.received = state.running.values.reduce(state.endedBytes) { $0 + $1.received }
            state.progress.expected = state.running.values.reduce(state.endedBytes) { sum, transfer in
                sum.flatMap { sum in transfer.expected.map { sum + $0 } }
            }
            return state.progress
        }
        hear(progress)
    }
}
