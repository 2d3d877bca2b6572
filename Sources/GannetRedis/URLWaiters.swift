internal import GannetBase
internal import GannetQueue

/// Callers that wait for news of a URL from other processes.
///
/// A caller takes a number before it asks for the news. So it does not miss news that come between its question and its wait.
final class URLWaiters: Sendable {
    private typealias Waiter = CheckedContinuation<Bool, Never>

    private struct State {
        var waiters: [URLID: [UInt64: Waiter?]] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Registers a caller that is about to ask.
    func expect(_ id: URLID) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.waiters[id, default: [:]][state.last] = .some(nil)
            return state.last
        }
    }

    /// Removes a caller that does not have to wait.
    func forget(_ number: UInt64, _ id: URLID) { wake(number, id) }

    /// Returns when there is news of the URL, the time is over, or the task is cancelled.
    /// - Returns: Whether there was news.
    @discardableResult
    func wait(_ number: UInt64, _ id: URLID, atMost: Duration) async -> Bool {
        let timer = Task {
            try? await Task.sleep(for: atMost)
            wake(number, id)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOver = state.withLock { state in
                    // The news came after the caller asked.
                    guard state.waiters[id]?[number] != nil else { return true }
                    state.waiters[id]?[number] = .some(waiter)
                    return false
                }
                if isOver { waiter.resume(returning: !Task.isCancelled) }
            }
        } onCancel: {
            wake(number, id)
        }
    }

    /// There is news of the URL.
    func wake(_ id: URLID) { resume(state.withLock { $0.waiters.removeValue(forKey: id) }, true) }

    /// News may have been missed.
    func wakeAll() {
        let all = state.withLock { state in
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiters in all.values { resume(waiters, false) }
    }

    private func wake(_ number: UInt64, _ id: URLID) {
        let waiter = state.withLock { state -> Waiter? in
            guard let waiter = state.waiters[id]?.removeValue(forKey: number) else { return nil }
            if state.waiters[id]?.isEmpty == true { state.waiters[id] = nil }
            return waiter
        }
        waiter?.resume(returning: false)
    }

    private func resume(_ waiters: [UInt64: Waiter?]?, _ isNews: Bool) {
        for waiter in (waiters ?? [:]).values { waiter?.resume(returning: isNews) }
    }
}
