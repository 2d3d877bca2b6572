internal import GannetBasics

// What concerns all entries. None of it holds the lock for longer than a slice of them takes.
extension MemoryCache {
    private static var slice: Int { 256 }

    /// How many entries there are, those included whose time is over and whose place nobody needed yet.
    public var count: Int { state.withLock { $0.ledger.count } }

    /// What they cost together.
    public var totalCost: Int { state.withLock { $0.ledger.cost } }

    public var statistics: MemoryCacheStatistics { state.withLock { $0.ledger.statistics } }

    /// Takes everything out and gives back the memory, that of the tables too.
    public func removeAll() {
        _ = state.withLock { $0.removeAll() }
    }

    /// Takes out the values of some keys, looking at all. What others put in meanwhile may be missed.
    /// - Parameter isUnwanted: May call the cache.
    public func removeAll(where isUnwanted: (Key) throws -> Bool) rethrows {
        var start: Int? = 0
        while let position = start {
            let part = state.withLock { $0.keys(from: position, atMost: Self.slice) }
            for key in part.keys where try isUnwanted(key) { removeValue(for: key) }
            start = part.next
        }
    }

    /// Makes entries go, in the order in which they would have had to make room, until the others cost no more than this: when memory
    /// is short. What others put in meanwhile may be above it.
    public func trim(toCost limit: Int) {
        let now = clock.now
        // Others may put in entries as fast as these go, so the rounds are counted.
        for _ in 0...count / Self.slice {
            let leftovers = state.withLock { $0.trim(toCost: limit, atMost: Self.slice, at: now) }
            if leftovers.isEmpty { break }
        }
    }
}
