/// Evicts the key that was not requested for the longest time.
struct LeastRecentlyUsed: Policy {
    private let costLimit: Int
    private var queue: KeyQueue
    /// The costs of the keys in the cache.
    private var costs: [Int?]

    init(costLimit: Int, keyCount: Int) {
        self.costLimit = costLimit
        queue = KeyQueue(keyCount: keyCount)
        costs = Array(repeating: nil, count: keyCount)
    }

    mutating func request(_ number: UInt32, cost: Int) -> Bool {
        let key = Int(number)
        if costs[key] != nil {
            queue.remove(key, cost: cost)
            queue.append(key, cost: cost)
            return true
        }
        guard cost <= costLimit else { return false }
        while queue.cost + cost > costLimit {
            let victim = queue.first
            queue.remove(victim, cost: costs[victim] ?? 0)
            costs[victim] = nil
        }
        costs[key] = cost
        queue.append(key, cost: cost)
        return false
    }
}
