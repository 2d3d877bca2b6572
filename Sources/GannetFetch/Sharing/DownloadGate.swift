internal import GannetBase

/// Limits how many downloads run at a time. The others wait in a queue by priority.
package final class DownloadGate: Sendable {
    private struct State {
        var free: Int
        var queue = PriorityQueue<CheckedContinuation<Bool, Never>>()
        var last: UInt64 = 0
    }

    private let state: Mutex<State>

    /// - Parameter places: At least one.
    package init(places: Int) { state = Mutex(State(free: max(1, places))) }

    /// The length of the queue.
    var waiting: Int { state.withLock { $0.queue.count } }

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
        defer { priority.listen(nil) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    // A cancellation that came before the waiter is in the queue has found nobody there.
                    if Task.isCancelled { return false }
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
            state.withLock { $0.queue.remove(id) }?.resume(returning: false)
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

/// Limits how many downloads run at a time at each host. Only hosts with downloads are remembered.
package final class HostGates: Sendable {
    private struct Host {
        let gate: DownloadGate
        var users = 0
    }

    private let limit: Int
    private let hosts = Mutex<[String: Host]>([:])

    /// - Parameter limit: At least one.
    package init(limit: Int) { self.limit = limit }

    /// Runs `body` when there is a place at the host. Returns `nil` when the task is cancelled before.
    package func within<Value: Sendable>(_ host: String, _ body: () async -> Value) async -> Value? {
        guard await enter(host, ChangingPriority(.normal)) else { return nil }
        defer { leave(host) }
        return await body()
    }

    /// Waits for a place at the host. Returns `false` when the task is cancelled before.
    func enter(_ host: String, _ priority: ChangingPriority) async -> Bool {
        let gate = hosts.withLock { hosts in
            hosts[host, default: Host(gate: DownloadGate(places: limit))].users += 1
            return hosts[host]?.gate
        }
        guard let gate, await gate.enter(priority) else {
            forget(host)
            return false
        }
        return true
    }

    func leave(_ host: String) {
        hosts.withLock { $0[host]?.gate }?.leave()
        forget(host)
    }

    private func forget(_ host: String) {
        hosts.withLock { hosts in
            hosts[host]?.users -= 1
            if hosts[host]?.users == 0 { hosts[host] = nil }
        }
    }
}

/// A queue that serves the highest priority first, and equal priorities in the order in which they came. Any element may leave, or change
/// its priority.
struct PriorityQueue<Element> {
    /// Ids in order, a queue for each priority. An id whose entry has left, or has another priority now, is skipped.
    private var queues = FetchPriority.allCases.map { _ in Fifo<UInt64>() }
    private var entries: [UInt64: (element: Element, priority: FetchPriority)] = [:]

    var count: Int { entries.count }

    mutating func append(_ element: Element, id: UInt64, _ priority: FetchPriority) {
        entries[id] = (element, priority)
        let number = priority.rawValue
        queues[number].append(id)
        // Ids to skip are swept out before they outnumber all entries.
        guard queues[number].count > 2 * entries.count + 64 else { return }
        queues[number].filter { [entries] in entries[$0]?.priority == priority }
    }

    /// Does nothing for an id that is not in the queue.
    mutating func move(_ id: UInt64, to priority: FetchPriority) {
        guard let entry = entries[id], entry.priority != priority else { return }
        append(entry.element, id: id, priority)
    }

    mutating func remove(_ id: UInt64) -> Element? { entries.removeValue(forKey: id)?.element }

    mutating func popFirst() -> Element? {
        for priority in FetchPriority.allCases.reversed() {
            while let id = queues[priority.rawValue].popFirst() {
                if entries[id]?.priority == priority { return remove(id) }
            }
        }
        return nil
    }
}
