/// How much of the cache the small queue may have, and how that follows the requests.
///
/// What comes back soon after it left the small queue would have been a hit in a slightly larger one, and what comes back soon after it
/// left the main queue a hit in a slightly larger main queue. Each such return moves the border by the size of what returned. Where
/// everything new is asked for once more (a page's images) the small queue grows, and where few things are asked for ever again it
/// shrinks.
///
/// How soon is counted in evictions from the same queue, so that the two can be compared although one sees more of them. A return
/// within two in a hundred of the entries counts in full, a later one less by the square of its age: it speaks of a queue that is much
/// larger, which the other would have to pay for.
struct SmallShare {
    /// The paper's tenth to begin with. Half at most, so that a scan never takes more than half of the cache.
    static let range = 0.01...0.5
    private(set) var value = 0.1

    private let costLimit: Double
    private let countLimit: Double

    init(costLimit: Int, countLimit: Int) {
        self.costLimit = Double(costLimit)
        self.countLimit = Double(countLimit)
    }

    func isExceeded(by queue: SlotQueue) -> Bool {
        Double(queue.cost) > value * costLimit || Double(queue.count) > value * countLimit
    }

    /// An entry came back that left the small queue.
    /// - Parameters:
    ///   - age: How many left that queue since, itself included.
    ///   - entries: How many there are in the cache.
    mutating func grow(by cost: Int, age: Int, entries: Int) {
        value = min(value + step(cost, age, entries), Self.range.upperBound)
    }

    /// An entry came back that left the main queue.
    mutating func shrink(by cost: Int, age: Int, entries: Int) {
        value = max(value - step(cost, age, entries), Self.range.lowerBound)
    }

    private func step(_ cost: Int, _ age: Int, _ entries: Int) -> Double {
        let nearness = min(1, max(1, 0.02 * Double(entries)) / Double(age))
        return max(Double(cost) / costLimit, 1 / countLimit) * nearness * nearness
    }
}
