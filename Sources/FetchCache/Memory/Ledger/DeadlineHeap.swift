/// Entries with a deadline, the earliest first: a binary heap in which each slot knows its place.
struct DeadlineHeap {
    /// The position of a slot that has no deadline.
    static let none = UInt32.max

    private struct Item {
        var deadline: Int64
        var slot: SlotNumber
    }

    private var items: ContiguousArray<Item> = []

    var count: Int { items.count }

    /// The slot whose deadline comes first, if it has come.
    func firstExpired(at now: Int64) -> SlotNumber? {
        guard let first = items.first, first.deadline <= now else { return nil }
        return first.slot
    }

    func deadline(at position: UInt32) -> Int64 { items[Int(position)].deadline }

    mutating func add(_ slot: SlotNumber, _ deadline: Int64, in slots: inout ContiguousArray<Slot>) {
        items.append(Item(deadline: deadline, slot: slot))
        moveUp(Item(deadline: deadline, slot: slot), from: items.count - 1, in: &slots)
    }

    mutating func remove(_ slot: SlotNumber, in slots: inout ContiguousArray<Slot>) {
        let position = Int(slots[Int(slot)].deadline)
        slots[Int(slot)].deadline = Self.none
        let moved = items.removeLast()
        guard position < items.count else { return }
        if position > 0, moved.deadline < items[(position - 1) / 2].deadline {
            moveUp(moved, from: position, in: &slots)
        } else {
            moveDown(moved, from: position, in: &slots)
        }
    }

    private mutating func moveUp(_ item: Item, from start: Int, in slots: inout ContiguousArray<Slot>) {
        var position = start
        while position > 0, item.deadline < items[(position - 1) / 2].deadline {
            place(items[(position - 1) / 2], at: position, in: &slots)
            position = (position - 1) / 2
        }
        place(item, at: position, in: &slots)
    }

    private mutating func moveDown(_ item: Item, from start: Int, in slots: inout ContiguousArray<Slot>) {
        var position = start
        while true {
            var child = position * 2 + 1
            guard child < items.count else { break }
            if child + 1 < items.count, items[child + 1].deadline < items[child].deadline { child += 1 }
            guard items[child].deadline < item.deadline else { break }
            place(items[child], at: position, in: &slots)
            position = child
        }
        place(item, at: position, in: &slots)
    }

    private mutating func place(_ item: Item, at position: Int, in slots: inout ContiguousArray<Slot>) {
        items[position] = item
        slots[Int(item.slot)].deadline = UInt32(position)
    }
}
