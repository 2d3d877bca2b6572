internal import GannetBase

/// A FIFO from which any element may leave, by its id.
struct WaitingQueue<Element> {
    private var elements: [UInt64: Element] = [:]
    private var order = SweptQueue<UInt64>()

    var isEmpty: Bool { elements.isEmpty }
    var count: Int { elements.count }

    mutating func append(_ element: Element, id: UInt64) {
        elements[id] = element
        order.append(id, living: elements.count) { [elements] in elements[$0] != nil }
    }

    mutating func popFirst() -> Element? {
        while let id = order.popFirst() {
            if let element = elements.removeValue(forKey: id) { return element }
        }
        return nil
    }

    mutating func remove(_ id: UInt64) -> Element? { elements.removeValue(forKey: id) }
}

/// A FIFO whose elements may end while they wait. They stay in it until they are the first, or until they outnumber the living.
struct SweptQueue<Element> {
    private var elements = Fifo<Element>()

    var first: Element? { elements.first }

    /// How many elements it holds, ended ones included.
    var length: Int { elements.count }

    /// Adds one at the end.
    /// - Parameters:
    ///   - living: How many of its elements have not ended, at most.
    mutating func append(_ element: Element, living: Int, isAlive: (Element) -> Bool) {
        elements.append(element)
        if elements.count > 2 * living + 64 { elements.filter(isAlive) }
    }

    mutating func popFirst() -> Element? { elements.popFirst() }

    /// Drops ended elements up to the first living one.
    mutating func skipEnded(isAlive: (Element) -> Bool) {
        while let first = elements.first, !isAlive(first) { _ = elements.popFirst() }
    }
}

/// Items in the order in which they are due, all after the same delay: a timer for any number of them.
typealias DueQueue<Item> = SweptQueue<(item: Item, due: ContinuousClock.Instant)>

extension SweptQueue {
    /// The next one that is due now.
    mutating func popDue<Item>(at now: ContinuousClock.Instant) -> Item? where Element == (item: Item, due: ContinuousClock.Instant) {
        guard let first, first.due <= now else { return nil }
        return popFirst()?.item
    }
}
