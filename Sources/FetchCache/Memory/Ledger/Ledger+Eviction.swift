// Where we differ from the paper, each because it measured better (`Scripts/bench cache`) or bounds the work:
//
// - The small queue's share moves with the requests: see SmallShare. For this, hashes of what leaves the main queue are remembered, too.
// - Until something is evicted for the first time, what does not fit into the small queue's share goes to the main queue. So a set that is asked for in a
//   circle and does not fit keeps its first part, instead of being pushed through as a whole.
// - An entry of more than four times the mean cost takes the place of many others: that it came back once is not enough for the main queue, it has to be
//   asked for while it is in the small one. That loses few bytes' worth of hits and gains more hits.
// - An eviction spares at most 64 entries.
extension Ledger {
    /// Entries that one eviction may spare before it takes what comes next, so that a caller never waits for a whole round.
    private static let mostSpared = 64
    /// What counts as a moment ago: so many evictions, as a part of the entries.
    private static let moment = 0.03
    /// Costs above the mean by this factor are large.
    private static let large = 4

    /// An entry that makes room for others.
    enum Departure {
        case evicted(SlotNumber)
        case expired(SlotNumber)
    }

    /// Takes out the entry whose turn it is, of at least one.
    mutating func evict(at now: Int64) -> Departure {
        if let number = firstExpired(at: now) {
            remove(number)
            return .expired(number)
        }
        hasEvicted = true
        var spared = 0
        while true {
            let fromSmall = main.count == 0 || (small.count > 0 && share.isExceeded(by: small))
            let number = fromSmall ? small.first : main.first
            let slot = slots[Int(number)]
            if slot.hits > 0, spared < Self.mostSpared {
                // What goes on to the main queue has to be asked for again to stay.
                requeue(number, hits: fromSmall ? 0 : slot.hits - 1)
                spared += 1
            } else {
                remove(number)
                remember(slot)
                return .evicted(number)
            }
        }
    }

    /// As many as there are entries in the main queue, which is what makes a return mean something: twice as many would let in what comes
    /// back too seldom to be kept. The main queue's own are there for its share alone, and half as many do.
    private mutating func remember(_ slot: Slot) {
        if slot.place == .small {
            smallGhosts.add(slot.hash, limit: main.count)
        } else {
            mainGhosts.add(slot.hash, limit: main.count / 2)
        }
    }

    /// Where an entry that is not there yet begins.
    mutating func place(forNew hash: Int, cost: Int) -> Slot.Place {
        let moment = max(1, Int(Double(count) * Self.moment))
        if let age = smallGhosts.remove(hash, limit: main.count) {
            if age <= moment { share.grow(by: cost) }
        } else if let age = mainGhosts.remove(hash, limit: main.count / 2) {
            if age <= moment { share.shrink(by: cost) }
        } else {
            return !hasEvicted && share.isExceeded(by: small) ? .main : .small
        }
        return isLarge(cost) ? .small : .main
    }

    private func isLarge(_ cost: Int) -> Bool { count > 0 && cost / Self.large > self.cost / count }
}
