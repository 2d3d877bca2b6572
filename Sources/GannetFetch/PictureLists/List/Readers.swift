internal import GannetBase

/// The readers of something that changes. Each has one signal at most waiting for it.
final class Readers: Sendable {
    private struct State {
        var signals: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var last: UInt64 = 0
        var isOver = false
    }

    private let state = Mutex(State())

    /// A signal now, and one after each change.
    func signals() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state -> UInt64? in
            guard !state.isOver else { return nil }
            state.last += 1
            state.signals[state.last] = continuation
            return state.last
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.signals.removeValue(forKey: number) } }
        continuation.yield()
        return stream
    }

    func signal() {
        for reader in state.withLock({ Array($0.signals.values) }) { reader.yield() }
    }

    /// The last signal: streams end.
    func finish() {
        let readers = state.withLock { state in
            state.isOver = true
            defer { state.signals = [:] }
            return Array(state.signals.values)
        }
        for reader in readers { reader.finish() }
    }

    var count: Int { state.withLock { $0.signals.count } }
}
