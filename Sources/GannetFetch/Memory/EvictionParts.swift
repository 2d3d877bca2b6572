/// Identifies an entry while it is in the cache. Numbers of entries that left are used again.
@usableFromInline typealias EntryNumber = UInt32

extension EntryNumber {
    /// No entry.
    static let none = EntryNumber.max
}

/// An entry without its key and value. 32 bytes.
@usableFromInline
struct Entry {
    var hash: Int
    var cost: Int
    var isMain: Bool
    /// Hits since the entry came, or since it was last spared; three at most, so that a busy entry has to prove itself again soon.
    var hits: UInt8
    /// Neighbours in the queue.
    var previous = EntryNumber.none
    var next = EntryNumber.none
    /// The position in the heap of deadlines.
    var deadline = EntryNumber.none
}

/// Entries in the order in which they came, linked with each other.
struct EntryQueue {
    private(set) var first = EntryNumber.none
    private var last = EntryNumber.none
    private(set) var count = 0
    private(set) var cost = 0

    mutating func append(_ number: EntryNumber, in entries: inout ContiguousArray<Entry>) {
        entries[Int(number)].previous = last
        entries[Int(number)].next = .none
        if last == .none { first = number } else { entries[Int(last)].next = number }
        last = number
        count += 1
        cost += entries[Int(number)].cost
    }

    mutating func remove(_ number: EntryNumber, in entries: inout ContiguousArray<Entry>) {
        let entry = entries[Int(number)]
        if entry.previous == .none { first = entry.next } else { entries[Int(entry.previous)].next = entry.next }
        if entry.next == .none { last = entry.previous } else { entries[Int(entry.next)].previous = entry.previous }
        count -= 1
        cost -= entry.cost
    }
}

/// Entries with a deadline, the earliest first. It is a binary heap in which each entry knows its position.
struct DeadlineHeap {
    private var items: ContiguousArray<(deadline: Int64, number: EntryNumber)> = []

    subscript(position: UInt32) -> Int64 { items[Int(position)].deadline }

    func firstExpired(at now: Int64) -> EntryNumber? {
        guard let first = items.first, first.deadline <= now else { return nil }
        return first.number
    }

    mutating func add(_ number: EntryNumber, _ deadline: Int64, in entries: inout ContiguousArray<Entry>) {
        items.append((deadline, number))
        settle((deadline, number), at: items.count - 1, in: &entries)
    }

    mutating func remove(_ number: EntryNumber, in entries: inout ContiguousArray<Entry>) {
        let position = Int(entries[Int(number)].deadline)
        let last = items.removeLast()
        if position < items.count { settle(last, at: position, in: &entries) }
    }

    /// Puts an item where it belongs, from a free position on.
    private mutating func settle(_ item: (deadline: Int64, number: EntryNumber), at start: Int, in entries: inout ContiguousArray<Entry>) {
        var position = start
        func put(_ item: (deadline: Int64, number: EntryNumber)) {
            items[position] = item
            entries[Int(item.number)].deadline = UInt32(position)
        }
        while position > 0, item.deadline < items[(position - 1) / 2].deadline {
            put(items[(position - 1) / 2])
            position = (position - 1) / 2
        }
        while true {
            var child = 2 * position + 1
            if child + 1 < items.count, items[child + 1].deadline < items[child].deadline { child += 1 }
            guard child < items.count, items[child].deadline < item.deadline else { break }
            put(items[child])
            position = child
        }
        put(item)
    }
}

/// Hashes of entries that were evicted not long ago, in buckets of eight, one cache line each. A new hash replaces the oldest of its bucket.
///
/// A hash may be forgotten too early, and, seldom, another be taken for it. Either costs a hit at most.
struct GhostTable {
    private(set) var marks: ContiguousArray<(tag: UInt32, time: UInt32)> = []
    /// Counts additions. It begins far enough from zero that blank marks are old.
    private var time: UInt32 = 1 << 31

    /// - Parameter limit: The number of hashes that matter.
    mutating func add(_ hash: Int, limit: Int) {
        if limit > marks.count / 4 * 3 {
            // It begins anew: there are few evictions while a cache grows.
            var size = max(marks.count, 8)
            while limit > size / 4 * 3 { size *= 2 }
            marks = ContiguousArray(repeating: (0, 0), count: size)
        }
        guard !marks.isEmpty else { return }
        let tag = Self.tag(hash)
        let bucket = bucket(tag)
        let oldest = bucket.max { time &- marks[$0].time < time &- marks[$1].time } ?? bucket.lowerBound
        marks[bucket.first { marks[$0].tag == tag } ?? oldest] = (tag, time)
        time &+= 1
    }

    /// Takes a hash out. Returns the number of additions since its own, which included, if that is no more than the limit.
    mutating func remove(_ hash: Int, limit: Int) -> Int? {
        let tag = Self.tag(hash)
        guard !marks.isEmpty, let position = bucket(tag).first(where: { marks[$0].tag == tag }) else { return nil }
        let age = Int(time &- marks[position].time)
        marks[position] = (0, time &- 1 << 31)
        return age <= limit ? age : nil
    }

    /// The lower half gives the place of an entry.
    private static func tag(_ hash: Int) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) }

    private func bucket(_ tag: UInt32) -> Range<Int> {
        let start = Int(tag) & (marks.count / 8 - 1) * 8
        return start..<start + 8
    }
}
