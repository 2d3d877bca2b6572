import GannetFetch

/// Something that keeps keys.
protocol Policy {
    /// Asks for a key, and puts it in if it is not there. Answers whether it was.
    mutating func request(_ key: UInt32, cost: Int) -> Bool
}

struct OurCache: Policy {
    let cache: MemoryCache<UInt32, UInt32>

    init(costLimit: Int) {
        cache = MemoryCache(.init(costLimit: costLimit, countLimit: .max))
    }

    func request(_ key: UInt32, cost: Int) -> Bool {
        if cache.value(for: key) != nil { return true }
        cache.insert(key, for: key, cost: cost)
        return false
    }
}
