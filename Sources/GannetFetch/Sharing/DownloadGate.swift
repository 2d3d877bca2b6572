internal import GannetBase

/// Limits how many downloads run at a time. The others wait in a queue by priority.
package final class DownloadGate: Sendable {
    private struct State {
        var free: Int
        var queue = PriorityQueue<CheckedContinuation<Bool, Never>>()
        var last: UInt64 = 0
        /// Waiters whose cancellation did not find them in the queue: they are not there yet, or not any more.
        var cancelled: Set<UInt64> = []
    }

    private let state: Mutex<State>

    /// - Parameter places: At least one.
    package init(places: Int) { state = Mutex(State(free: max(1, places))) }

    /// The length of the queue.
    var waiting: Int { state.withLock { $0.queue.count } }

    /// Runs `body` when there is a place for it. Returns `nil` when the task is cancelled before.
    package func within<Value: Sendable>(_ priority: ChangingPriority, _ body: () async -> Value) async -> Value? {
        guard await enter(priority) else { return nil }
        defer { leave() }
        return await body()
    }

    /// Waits for a place. Returns `false` when the task is cancelled before. ``leave()`` gives the place back.
    package func enter(_ priority: ChangingPriority = ChangingPriority(.normal)) async -> Bool {
        let id = state.withLock { state -> UInt64? in
            if state.free > 0, state.queue.count == 0 {
                state.free -= 1
                return nil
            }
            state.last += 1
            return state.last
        }
        guard let id else { return true }
        let value = priority.listen { [self] value in state.withLock { $0.queue.move(id, to: value) } }
        defer {
            priority.listen(nil)
            state.withLock { _ = $0.cancelled.remove(id) }
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if state.cancelled.contains(id) { return false }
                    // A place may have become free in between.
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.queue.append(continuation, id: id, value)
                    return nil
                }
                if let answer {
                    continuation.resume(returning: answer)
                } else if priority.value != value {
                    // The priority changed before there was an entry to move.
                    state.withLock { $0.queue.move(id, to: priority.value) }
                }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                let waiter = state.queue.remove(id)
                if waiter == nil { state.cancelled.insert(id) }
                return waiter
            }
            waiter?.resume(returning: false)
        }
    }

    package func leave() {
        let next = state.withLock { state in
            let next = state.queue.popFirst()
            if next == nil { state.free += 1 }
            return next
        }
        next?.resume(returning: true)
    }
}
