internal import GannetBase

/// State behind a lock, with callers that wait until it answers them: what tests use instead of sleeping.
package final class Monitor<State: Sendable>: Sendable {
    private struct Waiter: Sendable {
        /// Looks at the state; when it is satisfied, the closure that resumes the waiter.
        let attempt: @Sendable (inout State) -> (@Sendable () -> Void)?
        let cancel: @Sendable () -> Void
    }

    private struct Storage: Sendable {
        var state: State
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
    }

    private let storage: Mutex<Storage>

    package init(_ state: State) {
        storage = Mutex(Storage(state: state))
    }

    /// Changes or reads the state, then resumes, outside the lock, every waiter that the change satisfies.
    @discardableResult
    package func update<Result: Sendable>(_ change: @Sendable (inout State) -> Result) -> Result {
        let (result, resumptions) = storage.withLock { storage in
            let result = change(&storage.state)
            var resumptions: [@Sendable () -> Void] = []
            for (id, waiter) in storage.waiters.sorted(by: { $0.key < $1.key }) {
                guard let resume = waiter.attempt(&storage.state) else { continue }
                resumptions.append(resume)
                storage.waiters[id] = nil
            }
            return (result, resumptions)
        }
        for resume in resumptions { resume() }
        return result
    }

    /// Waits until `answer` gives a value. Throws `CancellationError` when the task is cancelled first.
    package func wait<Value: Sendable>(for answer: @escaping @Sendable (inout State) -> Value?) async throws -> Value {
        let id = storage.withLock { storage in
            storage.nextWaiter += 1
            return storage.nextWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
                let waiter = Waiter(
                    attempt: { state in
                        guard let value = answer(&state) else { return nil }
                        return { continuation.resume(returning: value) }
                    },
                    cancel: { continuation.resume(throwing: CancellationError()) })
                // A cancellation that came before the waiter is in the table found nothing to cancel, so it is looked for here.
                let resume = storage.withLock { storage -> (@Sendable () -> Void)? in
                    if let resume = waiter.attempt(&storage.state) { return resume }
                    if Task.isCancelled { return waiter.cancel }
                    storage.waiters[id] = waiter
                    return nil
                }
                resume?()
            }
        } onCancel: {
            storage.withLock { $0.waiters.removeValue(forKey: id) }?.cancel()
        }
    }
}
