internal import Threads

extension MemoryCache {
    /// Takes a value out.
    /// - Returns: The value, also if its time was over.
    @discardableResult
    public func removeValue(for key: Key) -> Value? {
        let hash = key.hashValue
        return store.withLock { $0.remove(key, hash: hash) }?.value
    }

    /// Takes everything out and gives back the memory, that of the tables too.
    public func removeAll() {
        _ = store.withLock { $0.removeAll() }
    }

    /// Takes out the values of some keys, looking at all. What others put in meanwhile may be missed.
    /// - Parameter isUnwanted: May call the cache.
    public func removeAll(where isUnwanted: (Key) throws -> Bool) rethrows {
        var start: Int? = 0
        while let position = start {
            let part = store.withLock { $0.keys(from: position, atMost: Self.slice) }
            for key in part.keys where try isUnwanted(key) { removeValue(for: key) }
            start = part.next
        }
    }

    /// Makes entries go, in the order in which they would have had to make room, until the others cost no more than this: when memory is short.
    /// What others put in meanwhile may be above it.
    public func trim(toCost limit: Int) {
        let now = clock.now
        // Others may put in entries as fast as these go, so the rounds are counted.
        for _ in 0...count / Self.slice {
            let isDone = store.withLock { store in
                let leftovers = store.trim(toCost: limit, atMost: Self.slice, at: now)
                return (leftovers, store.cost <= limit)
            }.1
            if isDone { break }
        }
    }
}
