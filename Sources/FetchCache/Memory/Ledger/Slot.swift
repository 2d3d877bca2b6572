/// Names an entry for as long as it is in the cache. Slots of entries that went are used again, so that the numbers stay small.
typealias SlotNumber = UInt32

extension SlotNumber {
    /// No entry: the end of a queue, or a place that is free.
    static let none = SlotNumber.max
}

/// All that is known of an entry but its key and its value. 32 bytes.
struct Slot {
    enum Place: UInt8 {
        case free
        case small
        case main
    }

    /// Where the counter of hits ends: an entry that was asked for a thousand times has to prove itself again as soon as one asked
    /// for three times.
    static let mostHits: UInt8 = 3

    var hash: Int
    var cost: Int
    var place: Place
    /// Since it came, or since it was last spared.
    var hits: UInt8 = 0
    /// Neighbours in the queue; `next` also leads through the free slots.
    var previous = SlotNumber.none
    var next = SlotNumber.none
    /// Where its deadline lies in the heap, if it has one.
    var deadline = DeadlineHeap.none

    init(hash: Int, cost: Int, place: Place) {
        self.hash = hash
        self.cost = cost
        self.place = place
    }
}
