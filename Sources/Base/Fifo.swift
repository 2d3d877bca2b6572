/// A queue with cheap ends: an array that gives back the memory of its taken front now and then.
///
/// Public for the reason that `Mutex` is: of package access it would not be specialised in the targets that use it.
public struct Fifo<Element> {
    @usableFromInline var storage: [Element?] = []
    @usableFromInline var head = 0

    @inlinable public init() {}

    @inlinable public var isEmpty: Bool { head == storage.count }
    @inlinable public var count: Int { storage.count - head }

    @inlinable public var first: Element? { isEmpty ? nil : storage[head] }

    @inlinable public mutating func append(_ element: Element) {
        storage.append(element)
    }

    @inlinable public mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer { advance() }
        return storage[head].take()
    }

    /// Changes the first element in place.
    @inlinable public mutating func modifyFirst(_ change: (inout Element) -> Void) {
        guard var element = storage[head].take() else { return }
        change(&element)
        storage[head] = element
    }

    /// Puts `elements` before everything else, in their order.
    @inlinable public mutating func prepend(_ elements: [Element]) {
        guard !elements.isEmpty else { return }
        storage.replaceSubrange(..<head, with: elements.map(Optional.some))
        head = 0
    }

    /// Removes and returns everything, first to last.
    @inlinable public mutating func removeAll() -> [Element] {
        defer {
            storage = []
            head = 0
        }
        return storage[head...].compactMap { $0 }
    }

    /// Keeps what `keeps` accepts, in order.
    @inlinable public mutating func filter(_ keeps: (Element) -> Bool) {
        storage = storage[head...].filter { element in element.map(keeps) ?? false }
        head = 0
    }

    @inlinable public func visit(_ body: (Element) -> Void) {
        for element in storage[head...] { element.map(body) }
    }

    @inlinable mutating func advance() {
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
