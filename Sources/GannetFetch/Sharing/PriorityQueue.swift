/// A queue that serves the highest priority first, and equal priorities in the order in which they came. Any element may leave, or change
/// its priority.
struct PriorityQueue<Element> {
    private var queues = FetchPriority.allCases.map { _ in Queue() }
    private var entries: [UInt64: (element: Element, priority: FetchPriority)] = [:]

    /// Ids in order. An id whose entry has left is skipped, and swept out before such ids outnumber the others.
    private struct Queue {
        var ids: [UInt64] = []
        var head = 0
        var living = 0
    }

    var count: Int { entries.count }

    mutating func append(_ element: Element, id: UInt64, _ priority: FetchPriority) {
        entries[id] = (element, priority)
        push(id, priority)
    }

    /// Does nothing for an id that is not in the queue.
    mutating func move(_ id: UInt64, to priority: FetchPriority) {
        guard let entry = entries[id], entry.priority != priority else { return }
        queues[entry.priority.rawValue].living -= 1
        entries[id] = (entry.element, priority)
        push(id, priority)
    }

    mutating func remove(_ id: UInt64) -> Element? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        queues[entry.priority.rawValue].living -= 1
        return entry.element
    }

    mutating func popFirst() -> Element? {
        for priority in FetchPriority.allCases.reversed() where queues[priority.rawValue].living > 0 {
            while queues[priority.rawValue].head < queues[priority.rawValue].ids.count {
                let id = queues[priority.rawValue].ids[queues[priority.rawValue].head]
                queues[priority.rawValue].head += 1
                if entries[id]?.priority == priority { return remove(id) }
            }
        }
        return nil
    }

    private mutating func push(_ id: UInt64, _ priority: FetchPriority) {
        let number = priority.rawValue
        queues[number].ids.append(id)
        queues[number].living += 1
        guard queues[number].ids.count > 2 * queues[number].living + 64 else { return }
        queues[number].ids = queues[number].ids[queues[number].head...].filter { entries[$0]?.priority == priority }
        queues[number].head = 0
    }
}
