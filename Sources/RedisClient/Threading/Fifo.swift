/// A queue with cheap ends: an array whose taken front is given back now and then.
struct Fifo<Element> {
    private var storage: [Element?] = []
    private var head = 0

    var isEmpty: Bool { head == storage.count }
    var count: Int { storage.count - head }

    var first: Element? { isEmpty ? nil : storage[head] }

    mutating func append(_ element: Element) {
        storage.append(element)
    }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer { advance() }
        return storage[head].take()
    }

    /// Changes the first element in place.
    mutating func modifyFirst(_ change: (inout Element) -> Void) {
        guard var element = storage[head].take() else { return }
        change(&element)
        storage[head] = element
    }

    /// Puts `elements` before everything else, in their order.
    mutating func prepend(_ elements: [Element]) {
        guard !elements.isEmpty else { return }
        storage.replaceSubrange(..<head, with: elements.map(Optional.some))
        head = 0
    }

    /// Removes and returns everything, first to last.
    mutating func removeAll() -> [Element] {
        defer {
            storage = []
            head = 0
        }
        return storage[head...].compactMap { $0 }
    }

    /// Keeps what `keeps` accepts, in order.
    mutating func filter(_ keeps: (Element) -> Bool) {
        storage = storage[head...].filter { element in element.map(keeps) ?? false }
        head = 0
    }

    func visit(_ body: (Element) -> Void) {
        for element in storage[head...] { element.map(body) }
    }

    private mutating func advance() {
        head += 1
        if head == storage.count {
            storage.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 1024, head * 2 >= storage.count {
            storage.removeSubrange(..<head)
            head = 0
        }
    }
}
