/// Finds entries by hash: a table with linear probing, at most three quarters full. It cannot compare keys; its user does.
///
/// A dictionary would hold every key a second time.
struct EntryIndex {
    /// Eight bytes. The tag is half of the hash: it gives the place where a search begins, and saves most comparisons with other keys.
    private struct Place {
        var tag: UInt32 = 0
        var number = EntryNumber.none
    }

    private var places = ContiguousArray(repeating: Place(), count: 16)
    private var count = 0

    private var mask: Int { places.count - 1 }

    /// The number with this hash that `matches`.
    func find(_ hash: Int, where matches: (EntryNumber) -> Bool) -> EntryNumber? {
        let tag = UInt32(truncatingIfNeeded: hash)
        var position = Int(tag) & mask
        while places[position].number != .none {
            if places[position].tag == tag, matches(places[position].number) { return places[position].number }
            position = (position + 1) & mask
        }
        return nil
    }

    mutating func add(_ number: EntryNumber, hash: Int) {
        if (count + 1) * 4 > places.count * 3 { grow() }
        count += 1
        put(Place(tag: UInt32(truncatingIfNeeded: hash), number: number))
    }

    /// Takes out a number that is in the table.
    mutating func remove(_ number: EntryNumber, hash: Int) {
        var hole = Int(UInt32(truncatingIfNeeded: hash)) & mask
        while places[hole].number != number { hole = (hole + 1) & mask }
        count -= 1
        // Later places move up into the hole, except those whose search begins behind it.
        var position = hole
        while true {
            position = (position + 1) & mask
            guard places[position].number != .none else { break }
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
        while places[position].number != .none { position = (position + 1) & mask }
        places[position] = place
    }

    private mutating func grow() {
        let old = places
        places = ContiguousArray(repeating: Place(), count: old.count * 2)
        for place in old where place.number != .none { put(place) }
    }
}
