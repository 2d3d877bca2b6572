/// What waits its turn: the highest priority first, and within one in the order they came. Any may leave, or change its priority.
struct PriorityLine<Element> {
    private var lines = FetchPriority.allCases.map { _ in Line() }
    private var places: [UInt64: (element: Element, priority: FetchPriority)] = [:]

    /// Ids in order. Those that have left are skipped, and swept out before they outnumber the rest.
    private struct Line {
        var ids: [UInt64] = []
        var head = 0
        var living = 0
    }

    var count: Int { places.count }

    mutating func append(_ element: Element, id: UInt64, _ priority: FetchPriority) {
        places[id] = (element, priority)
        push(id, priority)
    }

    /// One that is not there is left alone.
    mutating func move(_ id: UInt64, to priority: FetchPriority) {
        guard let place = places[id], place.priority != priority else { return }
        lines[place.priority.rawValue].living -= 1
        places[id] = (place.element, priority)
        push(id, priority)
    }

    mutating func remove(_ id: UInt64) -> Element? {
        guard let place = places.removeValue(forKey: id) else { return nil }
        lines[place.priority.rawValue].living -= 1
        return place.element
    }

    mutating func popFirst() -> Element? {
        for priority in FetchPriority.allCases.reversed() where lines[priority.rawValue].living > 0 {
            while lines[priority.rawValue].head < lines[priority.rawValue].ids.count {
                let id = lines[priority.rawValue].ids[lines[priority.rawValue].head]
                lines[priority.rawValue].head += 1
                if places[id]?.priority == priority { return remove(id) }
            }
        }
        return nil
    }

    private mutating func push(_ id: UInt64, _ priority: FetchPriority) {
        let number = priority.rawValue
        lines[number].ids.append(id)
        lines[number].living += 1
        guard lines[number].ids.count > 2 * lines[number].living + 64 else { return }
        lines[number].ids = lines[number].ids[lines[number].head...].filter { places[$0]?.priority == priority }
        lines[number].head = 0
    }
}
