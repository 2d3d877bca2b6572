/// Finds slots by hash: a table with linear probing, at most three quarters full. Whether a slot has the right key only its user knows.
///
/// A dictionary would hold every key a second time.
struct SlotIndex {
    /// Eight bytes. The half of the hash that is kept tells where the entry belongs, and spares most looks at keys of others.
    private struct Place {
        var tag: UInt32 = 0
        var slot = SlotNumber.none
    }

    private var places = ContiguousArray(repeating: Place(), count: 16)
    private var count = 0

    private var mask: Int { places.count - 1 }

    /// The slot with this hash which `matches`.
    func find(_ hash: Int, where matches: (SlotNumber) -> Bool) -> SlotNumber? {
        let tag = UInt32(truncatingIfNeeded: hash)
        var position = Int(tag) & mask
        while places[position].slot != .none {
            if places[position].tag == tag, matches(places[position].slot) { return places[position].slot }
            position = (position + 1) & mask
        }
        return nil
    }

    mutating func add(_ slot: SlotNumber, hash: Int) {
        if (count + 1) * 4 > places.count * 3 { grow() }
        count += 1
        put(Place(tag: UInt32(truncatingIfNeeded: hash), slot: slot))
    }

    /// Takes out a slot that is there.
    mutating func remove(_ slot: SlotNumber, hash: Int) {
        var hole = Int(UInt32(truncatingIfNeeded: hash)) & mask
        while places[hole].slot != slot { hole = (hole + 1) & mask }
        count -= 1
        // What lies behind moves up, unless that were before the place where a search for it begins.
        var position = hole
        while true {
            position = (position + 1) & mask
            guard places[position].slot != .none else { break }
            let home = Int(places[position].tag) & mask
            if (position - home) & mask >= (position - hole) & mask {
                places[hole] = places[position]
                hole = position
            }
        }
        places[hole] = Place()
    }

    private mutating func put(_ place: Place) {
        var position = Int(place.tag) & mask
        while places[position].slot != .none { position = (position + 1) & mask }
        places[position] = place
    }

    private mutating func grow() {
        let old = places
        places = ContiguousArray(repeating: Place(), count: old.count * 2)
        for place in old where place.slot != .none { put(place) }
    }
}
