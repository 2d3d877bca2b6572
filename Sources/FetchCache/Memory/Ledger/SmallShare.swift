/// How much of the cache the small queue may have, and how that follows the requests.
///
/// What comes back soon after it left the small queue would have been a hit in a larger one; what comes back soon after it left the main queue
/// would have been a hit in a larger main queue. Each such return moves the border by the size of what returned. Where everything new is asked
/// for once more (a page's images) the small queue grows, and where few things are asked for ever again it shrinks.
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

    /// An entry came back that left the small queue a moment ago.
    mutating func grow(by cost: Int) { value = min(value + step(cost), Self.range.upperBound) }

    /// An entry came back that left the main queue a moment ago.
    mutating func shrink(by cost: Int) { value = max(value - step(cost), Self.range.lowerBound) }

    private func step(_ cost: Int) -> Double { max(Double(cost) / costLimit, 1 / countLimit) }
}
