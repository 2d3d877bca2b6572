/// Identifies an entry while it is in the cache. Numbers of entries that left are reused, so that they stay small.
@usableFromInline typealias EntryNumber = UInt32

extension EntryNumber {
    /// No entry: the end of a queue, or a free place in the index.
    static let none = EntryNumber.max
}

/// An entry without its key and value. 32 bytes.
struct LedgerEntry {
    enum Place: UInt8 {
        case free
        case small
        case main
    }

    /// The counter of hits ends here: an entry with a thousand hits has to prove itself again as soon as one with three.
    static let mostHits: UInt8 = 3

    var hash: Int
    var cost: Int
    var place: Place
    /// Hits since the entry came, or since it was last spared.
    var hits: UInt8 = 0
    /// Neighbours in the queue; `next` also links the free numbers.
    var previous = EntryNumber.none
    var next = EntryNumber.none
    /// The position of its deadline in the heap, if it has one.
    var deadline = DeadlineHeap.none

    init(hash: Int, cost: Int, place: Place) {
        self.hash = hash
        self.cost = cost
        self.place = place
    }
}

/// Entries in the order in which they came, linked with each other.
struct EntryQueue {
    private(set) var first = EntryNumber.none
    private var last = EntryNumber.none
    private(set) var count = 0
    private(set) var cost = 0

    mutating func append(_ number: EntryNumber, in entries: inout ContiguousArray<LedgerEntry>) {
        let position = Int(number)
        entries[position].previous = last
        entries[position].next = .none
        if last == .none { first = number } else { entries[Int(last)].next = number }
        last = number
        count += 1
        cost += entries[position].cost
    }

    mutating func remove(_ number: EntryNumber, in entries: inout ContiguousArray<LedgerEntry>) {
        let (previous, next, cost) = (entries[Int(number)].previous, entries[Int(number)].next, entries[Int(number)].cost)
        if previous == .none { first = next } else { entries[Int(previous)].next = next }
        if next == .none { last = previous } else { entries[Int(next)].previous = previous }
        count -= 1
        self.cost -= cost
    }
}
