// What a cache asks of its books. Where these tell of a slot that was left, its entry is still to be taken out.
extension Ledger {
    @usableFromInline
    enum Finding {
        case hit(SlotNumber)
        /// It was there, and has left.
        case expired(SlotNumber)
        case miss
    }

    /// Looks for an entry because somebody wants it.
    @usableFromInline
    mutating func lookUp(_ hash: Int, at now: Int64, where isWanted: (SlotNumber) -> Bool) -> Finding {
        guard let number = find(hash, where: isWanted) else {
            statistics.misses &+= 1
            return .miss
        }
        guard !isExpired(number, at: now) else {
            statistics.misses &+= 1
            statistics.expirations &+= 1
            remove(number)
            return .expired(number)
        }
        statistics.hits &+= 1
        noteHit(number)
        return .hit(number)
    }

    @usableFromInline
    func contains(_ hash: Int, at now: Int64, where isWanted: (SlotNumber) -> Bool) -> Bool {
        find(hash, where: isWanted).map { !isExpired($0, at: now) } ?? false
    }

    /// Finds a slot for an entry. Room is made before it is added, so that the limits hold at every moment.
    /// - Parameters:
    ///   - cost: Not negative, and within the limit.
    ///   - leave: Is told of each slot that was left, before any of them may be the answer.
    @usableFromInline
    mutating func insert(
        hash: Int, cost: Int, deadline: Int64?, at now: Int64, where isWanted: (SlotNumber) -> Bool, leave: (SlotNumber) -> Void
    ) -> SlotNumber {
        var predecessor: Slot?
        if let number = find(hash, where: isWanted) {
            predecessor = remove(number)
            leave(number)
        }
        while !hasRoom(for: cost) { leave(evict(at: now)) }
        statistics.insertions &+= 1
        // One that replaces another has the other's standing.
        var slot = Slot(hash: hash, cost: cost, place: predecessor?.place ?? place(forNew: hash, cost: cost))
        slot.hits = predecessor?.hits ?? 0
        return add(slot, deadline: deadline)
    }

    /// Takes an entry out that somebody wants to be gone.
    @usableFromInline
    mutating func remove(_ hash: Int, where isWanted: (SlotNumber) -> Bool) -> SlotNumber? {
        guard let number = find(hash, where: isWanted) else { return nil }
        remove(number)
        return number
    }

    @usableFromInline
    mutating func noteRefusal() { statistics.refusals &+= 1 }

    /// Evicts until no more than `limit` is left, but no more entries than so many.
    mutating func trim(toCost limit: Int, atMost most: Int, at now: Int64, leave: (SlotNumber) -> Void) {
        var evicted = 0
        while cost > limit, count > 0, evicted < most {
            leave(evict(at: now))
            evicted += 1
        }
    }

    /// Forgets everything but the statistics.
    mutating func removeAll() {
        let statistics = statistics
        self = Ledger(costLimit: costLimit, countLimit: countLimit)
        self.statistics = statistics
    }
}
