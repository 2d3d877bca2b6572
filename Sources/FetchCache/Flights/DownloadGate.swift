internal import GannetBasics

/// So many at a time; who waits comes in by priority.
package final class DownloadGate: Sendable {
    private struct State {
        var free: Int
        var line = PriorityLine<CheckedContinuation<Bool, Never>>()
        var last: UInt64 = 0
        /// Those whose cancellation found them not in the line: not yet, or not any more.
        var cancelled: Set<UInt64> = []
    }

    private let state: Mutex<State>

    /// - Parameter places: At least one.
    package init(places: Int) { state = Mutex(State(free: max(1, places))) }

    /// How many are in the line.
    var waiting: Int { state.withLock { $0.line.count } }

    /// Runs `body` when there is a place for it; returns `nil` when the task is cancelled before.
    package func within<Value: Sendable>(
        _ priority: FlightPriority, _ body: () async -> Value
    ) async -> Value? {
        guard await enter(priority) else { return nil }
        defer { leave() }
        return await body()
    }

    private func enter(_ priority: FlightPriority) async -> Bool {
        let id = state.withLock { state -> UInt64? in
            if state.free > 0, state.line.count == 0 {
                state.free -= 1
                return nil
            }
            state.last += 1
            return state.last
        }
        guard let id else { return true }
        let value = priority.listen { [self] value in state.withLock { $0.line.move(id, to: value) } }
        defer {
            _ = priority.listen(nil)
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
                    state.line.append(continuation, id: id, value)
                    return nil
                }
                if let answer {
                    continuation.resume(returning: answer)
                } else if priority.value != value {
                    // It changed when there was nothing to move yet.
                    state.withLock { $0.line.move(id, to: priority.value) }
                }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                let waiter = state.line.remove(id)
                if waiter == nil { state.cancelled.insert(id) }
                return waiter
            }
            waiter?.resume(returning: false)
        }
    }

    private func leave() {
        let next = state.withLock { state in
            let next = state.line.popFirst()
            if next == nil { state.free += 1 }
            return next
        }
        next?.resume(returning: true)
    }
}
