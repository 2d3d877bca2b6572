/// Values by the time they are due: a binary heap, so that a hundred thousand slow answers need no thread and no search.
struct DueHeap<Due: Comparable, Value> {
    private var heap: [(due: Due, value: Value)] = []

    var nextDue: Due? { heap.first?.due }

    mutating func add(_ value: Value, due: Due) {
        heap.append((due, value))
        var child = heap.count - 1
        while child > 0, heap[child].due < heap[(child - 1) / 2].due {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func popDue(at now: Due) -> Value? {
        guard let first = heap.first, first.due <= now else { return nil }
        let last = heap.removeLast()
        if heap.isEmpty { return first.value }
        heap[0] = last
        var parent = 0
        while true {
            let left = 2 * parent + 1
            guard left < heap.count else { break }
            let least = left + 1 < heap.count && heap[left + 1].due < heap[left].due ? left + 1 : left
            guard heap[least].due < heap[parent].due else { break }
            heap.swapAt(least, parent)
            parent = least
        }
        return first.value
    }
}
