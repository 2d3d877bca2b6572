/// Entries in the order in which they came, linked through their slots.
struct SlotQueue {
    private(set) var first = SlotNumber.none
    private var last = SlotNumber.none
    private(set) var count = 0
    private(set) var cost = 0

    mutating func append(_ number: SlotNumber, in slots: inout ContiguousArray<Slot>) {
        let position = Int(number)
        slots[position].previous = last
        slots[position].next = .none
        if last == .none { first = number } else { slots[Int(last)].next = number }
        last = number
        count += 1
        cost += slots[position].cost
    }

    mutating func remove(_ number: SlotNumber, in slots: inout ContiguousArray<Slot>) {
        let (previous, next, cost) = (slots[Int(number)].previous, slots[Int(number)].next, slots[Int(number)].cost)
        if previous == .none { first = next } else { slots[Int(previous)].next = next }
        if next == .none { last = previous } else { slots[Int(next)].previous = previous }
        count -= 1
        self.cost -= cost
    }
}
