/// What waits its turn in the order it came, and from which any may leave.
struct Line<Element> {
    private var elements: [UInt64: Element] = [:]
    /// Ids in order; those that have left are skipped, and swept out before they outnumber the rest.
    private var order: [UInt64] = []
    private var head = 0

    var isEmpty: Bool { elements.isEmpty }
    var count: Int { elements.count }

    mutating func append(_ element: Element, id: UInt64) {
        elements[id] = element
        order.append(id)
        if order.count > 2 * elements.count + 64 {
            order = order[head...].filter { elements[$0] != nil }
            head = 0
        }
    }

    mutating func popFirst() -> Element? {
        while head < order.count {
            let id = order[head]
            head += 1
            if let element = elements.removeValue(forKey: id) { return element }
        }
        order.removeAll(keepingCapacity: false)
        head = 0
        return nil
    }

    mutating func remove(_ id: UInt64) -> Element? { elements.removeValue(forKey: id) }
}
