internal import GannetBase
internal import GannetHTTP

/// How far the fetches of a list are, together.
public struct TotalProgress: Sendable, Hashable {
    /// All URLs of the list. While the length of a list is unknown, the URLs that were taken from it.
    public var urls = 0
    /// URLs whose answers are there.
    public var fetched = 0
    /// URLs that could not be fetched.
    public var failed = 0
    /// Bytes that have come so far.
    public var received: Int64 = 0
    /// The bytes of all answers that have begun; nil while the length of one of them is unknown. It grows with each further answer, so a bar
    /// shows ``fetched`` and ``failed`` over ``urls`` instead.
    public var expected: Int64?

    init() {}
}

/// Adds up the progress of the fetches of a list.
final class ProgressTally: Sendable {
    private struct State {
        var progress = TotalProgress()
        /// Fetches that have begun and not ended.
        var begun: Set<Int> = []
        var running: [Int: FetchProgress] = [:]
        var endedBytes: Int64 = 0
        var isComplete = false
        var last = 0

        var total: TotalProgress {
            var total = progress
            total.urls = max(progress.urls, last)
            total.received = running.values.reduce(endedBytes) { $0 + $1.received }
            total.expected = running.values.reduce(endedBytes) { sum, transfer in
                sum.flatMap { sum in transfer.expected.map { sum + $0 } }
            }
            return total
        }
    }

    private let state = Mutex(State())
    private let relay = Relay<TotalProgress>()

    /// - Parameter urls: The length of the list as far as it is known.
    init(urls: Int) { state.withLock { $0.progress.urls = urls } }

    deinit { relay.end() }

    /// A fetch begins. Returns its number.
    func begin() -> Int {
        change { state in
            state.last += 1
            state.begun.insert(state.last)
            return state.last
        }
    }

    /// A report may come late, when its fetch has been counted already.
    func report(_ progress: FetchProgress, of fetch: Int) {
        change { state in
            guard state.begun.contains(fetch) else { return }
            state.running[fetch] = progress
        }
    }

    func end(_ fetch: Int, isFailure: Bool) {
        change { state in
            state.begun.remove(fetch)
            state.endedBytes += state.running.removeValue(forKey: fetch)?.received ?? 0
            if isFailure { state.progress.failed += 1 } else { state.progress.fetched += 1 }
        }
    }

    /// No further fetch begins.
    func complete() { change { $0.isComplete = true } }

    /// The progress from now on, beginning with the state now.
    func stream(_ ended: @escaping @Sendable () -> Void = {}) -> AsyncStream<TotalProgress> {
        state.withLock { state in
            relay.report(state.total)
            return relay.stream(ended)
        }
    }

    /// Changes the state, and ends the streams when all is over. States are told under the lock, so that the last one is told last.
    private func change<Value: Sendable>(_ edit: (inout State) -> Value) -> Value {
        let (value, isOver) = state.withLock { state -> (Value, Bool) in
            let value = edit(&state)
            // The sum is made only where somebody listens: transfers report every few kilobytes.
            relay.reportIfHeard { state.total }
            return (value, state.isComplete && state.begun.isEmpty)
        }
        // A stream that ends may cancel fetches, which take the lock.
        if isOver { relay.end() }
        return value
    }
}
