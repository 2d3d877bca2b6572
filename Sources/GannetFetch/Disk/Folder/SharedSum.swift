/// An estimate of a sum over 256 shards that other processes change too: the bytes in a folder, or its files.
///
/// A process knows its own changes. The changes of others show when a shard is counted again. Shards are alike, so the last counts tell how
/// much the others change while this process adds something, and the estimate runs ahead of the counting. Without that, ten processes that
/// fill a folder would each notice too late that it is full, and then each empty it.
struct SharedSum: Sendable {
    static let shards = 256

    private struct Shard {
        var sum: Int64 = 0
        /// The value of `added` at the last count.
        var countedAt: Int64?
    }

    private var values = [Shard](repeating: Shard(), count: shards)
    private let limit: Int64
    /// The sum of all additions of this process, which is the clock of its estimate.
    private var added: Int64 = 0
    /// The sum of counted shards, and the changes of this process to the others.
    private var counted: Int64 = 0
    private var uncounted: Int64 = 0
    private var countedShards = 0
    /// The sum of all `countedAt`. It may be too large for an integer.
    private var countedAt: Double = 0
    // The changes of others that the last counts found, and the additions of this process meanwhile. Older counts weigh less and less.
    private var othersChange: Double = 0
    private var ownProgress: Double = 0

    /// The factor by which a count loses weight at the next one.
    private static let memory = 31.0 / 32
    /// With fewer shards there is no estimate: one large file would be taken for 256.
    private static let enough = 64

    init(limit: Int64) { self.limit = limit }

    var isCounted: Bool { countedShards == Self.shards }

    func isCounted(_ shard: UInt8) -> Bool { values[Int(shard)].countedAt != nil }

    mutating func add(_ amount: Int64, to shard: UInt8, replacing old: Int64 = 0) {
        added += amount
        change(shard, by: amount - old)
    }

    mutating func remove(_ amount: Int64, from shard: UInt8) { change(shard, by: -amount) }

    /// A shard was counted.
    mutating func count(_ shard: UInt8, as actual: Int64) {
        let before = values[Int(shard)]
        if let then = before.countedAt {
            othersChange = othersChange * Self.memory + Double(actual - before.sum) * Double(Self.shards)
            // A process that added next to nothing learns little about its pace in comparison with others.
            ownProgress = ownProgress * Self.memory + max(Double(added - then), Double(limit) / 4096)
            countedAt -= Double(then)
            counted -= before.sum
        } else {
            countedShards += 1
            uncounted -= before.sum
        }
        values[Int(shard)] = Shard(sum: actual, countedAt: added)
        countedAt += Double(added)
        counted += actual
    }

    var estimate: Int64 {
        guard countedShards >= Self.enough else { return counted + uncounted }
        var estimate = Double(counted) * (isCounted ? 1 : Double(Self.shards) / Double(countedShards))
        if ownProgress > 0 {
            let sinceCount = Double(added) - countedAt / Double(countedShards)
            estimate += min(max(othersChange / ownProgress * sinceCount, -estimate), Double(limit))
        }
        return Int64(estimate.rounded())
    }

    private mutating func change(_ shard: UInt8, by amount: Int64) {
        let before = values[Int(shard)]
        // A sum below zero only shows that other processes had removed, or added, before.
        let after = before.countedAt == nil ? before.sum + amount : max(0, before.sum + amount)
        values[Int(shard)].sum = after
        if before.countedAt == nil { uncounted += after - before.sum } else { counted += after - before.sum }
    }
}
