internal import GannetBase
internal import GannetHTTP

/// The outcome of a fetch, for any number of waiters. Each may leave before it comes.
final class TaskOutcome<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, FetchError>

    private struct State {
        var outcome: Outcome?
        var waiters: [UInt64: CheckedContinuation<Outcome?, Never>] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Waits for the outcome. Nil when the waiting task is cancelled before it is there.
    var value: Outcome? {
        get async {
            let number = state.withLock { state in
                state.last += 1
                return state.last
            }
            return await withTaskCancellationHandler {
                await withCheckedContinuation { waiter in
                    let (outcome, waits) = state.withLock { state -> (Outcome?, Bool) in
                        if let outcome = state.outcome { return (outcome, false) }
                        // A cancellation that came before the waiter is in the table has found nobody there.
                        if Task.isCancelled { return (nil, false) }
                        state.waiters[number] = waiter
                        return (nil, true)
                    }
                    if !waits { waiter.resume(returning: outcome) }
                }
            } onCancel: {
                state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(returning: nil)
            }
        }
    }

    func set(_ outcome: Outcome) {
        let waiters = state.withLock { state in
            state.outcome = outcome
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }
}
