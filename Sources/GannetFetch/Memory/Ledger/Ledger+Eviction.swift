// Differences to the paper. Each measured better (`Scripts/bench cache`) or bounds the work:
//
// - The small queue's share follows the requests: see SmallShare. For this, hashes of entries that leave the main queue are remembered
//   too.
// - Before the first eviction, an entry that does not fit into the small queue's share goes to the main queue. There is nothing yet that
//   it would push out, and the small queue is not flooded.
// - An entry of more than four times the mean cost takes the place of many others. One return is not enough to get it into the main queue:
//   it has to be asked for while it is in the small one. That loses few bytes of hits, and gains more hits.
// - An eviction spares at most 256 entries.
extension Ledger {
    /// The most entries that one eviction spares, so that a caller never waits for a whole round.
    private static let mostSpared = 256
    /// An entry above the mean cost by this factor is large.
    private static let large = 4

    /// Takes out the entry whose turn it is. There is at least one entry.
    mutating func evict(at now: Int64) -> EntryNumber {
        if let number = firstExpired(at: now) {
            remove(number)
            statistics.expirations &+= 1
            return number
        }
        statistics.evictions &+= 1
        hasEvicted = true
        var spared = 0
        while true {
            let fromSmall = main.count == 0 || (small.count > 0 && share.isExceeded(by: small))
            let number = fromSmall ? small.first : main.first
            let entry = entries[Int(number)]
            if entry.hits > 0, spared < Self.mostSpared {
                // An entry that goes on to the main queue has to be asked for again to stay.
                requeue(number, hits: fromSmall ? 0 : entry.hits - 1)
                spared += 1
            } else {
                remove(number)
                remember(entry)
                return number
            }
        }
    }

    /// Remembers as many entries as the main queue has: with twice as many, entries that return too seldom would be let in. Hashes of the
    /// main queue itself serve only to find its share, and half as many are enough for that.
    private mutating func remember(_ entry: LedgerEntry) {
        if entry.place == .small {
            smallGhosts.add(entry.hash, limit: main.count)
        } else {
            mainGhosts.add(entry.hash, limit: main.count / 2)
        }
    }

    /// The queue in which a new entry begins.
    mutating func place(forNew hash: Int, cost: Int) -> LedgerEntry.Place {
        if let age = smallGhosts.remove(hash, limit: main.count) {
            share.grow(by: cost, age: age, entries: count)
        } else if let age = mainGhosts.remove(hash, limit: main.count / 2) {
            share.shrink(by: cost, age: age, entries: count)
        } else {
            return !hasEvicted && share.isExceeded(by: small) ? .main : .small
        }
        return isLarge(cost) ? .small : .main
    }

    private func isLarge(_ cost: Int) -> Bool { count > 0 && cost / Self.large > self.cost / count }
}

/// The small queue's share of the cache, which follows the requests.
///
/// An entry that returns soon after it left the small queue would have been a hit in a slightly larger one. The same holds for the main
/// queue. Each such return moves the border by the cost of the entry. Where every new entry is asked for once more (a page's images) the
/// small queue grows. Where few entries are ever asked for again it shrinks.
///
/// The time until a return is counted in evictions from the same queue. So the two queues can be compared although one sees more
/// evictions. A return within two in a hundred of the entries counts in full. A later one counts less, by the square of its age: it would
/// need a much larger queue, at the cost of the other.
struct SmallShare {
    /// The paper begins with a tenth. At most half, so that a scan never takes more than half of the cache.
    static let range = 0.01...0.5
    private(set) var value = 0.1

    private let costLimit: Double
    private let countLimit: Double

    init(costLimit: Int, countLimit: Int) {
        self.costLimit = Double(costLimit)
        self.countLimit = Double(countLimit)
    }

    func isExceeded(by queue: EntryQueue) -> Bool {
        Double(queue.cost) > value * costLimit || Double(queue.count) > value * countLimit
    }

    /// An entry returned that had left the small queue.
    /// - Parameters:
    ///   - age: The number of entries that have left that queue since, which includes the entry itself.
    ///   - entries: The number of entries in the cache.
    mutating func grow(by cost: Int, age: Int, entries: Int) {
        value = min(value + step(cost, age, entries), Self.range.upperBound)
    }

    /// An entry returned that had left the main queue.
    mutating func shrink(by cost: Int, age: Int, entries: Int) {
        value = max(value - step(cost, age, entries), Self.range.lowerBound)
    }

    private func step(_ cost: Int, _ age: Int, _ entries: Int) -> Double {
        let nearness = min(1, max(1, 0.02 * Double(entries)) / Double(age))
        return max(Double(cost) / costLimit, 1 / countLimit) * nearness * nearness
    }
}
