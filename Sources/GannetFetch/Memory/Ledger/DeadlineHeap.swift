/// Entries with a deadline, the earliest first. It is a binary heap in which each entry knows its position.
struct DeadlineHeap {
    /// The position of an entry without a deadline.
    static let none = UInt32.max

    private struct Item {
        var deadline: Int64
        var number: EntryNumber
    }

    private var items: ContiguousArray<Item> = []

    var count: Int { items.count }

    /// The entry with the earliest deadline, if that deadline is over.
    func firstExpired(at now: Int64) -> EntryNumber? {
        guard let first = items.first, first.deadline <= now else { return nil }
        return first.number
    }

    func deadline(at position: UInt32) -> Int64 { items[Int(position)].deadline }

    mutating func add(_ number: EntryNumber, _ deadline: Int64, in entries: inout ContiguousArray<LedgerEntry>) {
        items.append(Item(deadline: deadline, number: number))
        moveUp(Item(deadline: deadline, number: number), from: items.count - 1, in: &entries)
    }

    mutating func remove(_ number: EntryNumber, in entries: inout ContiguousArray<LedgerEntry>) {
        let position = Int(entries[Int(number)].deadline)
        entries[Int(number)].deadline = Self.none
        let moved = items.removeLast()
        guard position < items.count else { return }
        if position > 0, moved.deadline < items[(position - 1) / 2].deadline {
            moveUp(moved, from: position, in: &entries)
        } else {
            moveDown(moved, from: position, in: &entries)
        }
    }

    private mutating func moveUp(_ item: Item, from start: Int, in entries: inout ContiguousArray<LedgerEntry>) {
        var position = start
        while position > 0, item.deadline < items[(position - 1) / 2].deadline {
            place(items[(position - 1) / 2], at: position, in: &entries)
            position = (position - 1) / 2
        }
        place(item, at: position, in: &entries)
    }

    private mutating func moveDown(_ item: Item, from start: Int, in entries: inout ContiguousArray<LedgerEntry>) {
        var position = start
        while true {
            var child = position * 2 + 1
            guard child < items.count else { break }
            if child + 1 < items.count, items[child + 1].deadline < items[child].deadline { child += 1 }
            guard items[child].deadline < item.deadline else { break }
            place(items[child], at: position, in: &entries)
            position = child
        }
        place(item, at: position, in: &entries)
    }

    private mutating func place(_ item: Item, at position: Int, in entries: inout ContiguousArray<LedgerEntry>) {
        items[position] = item
        entries[Int(item.number)].deadline = UInt32(position)
    }
}
