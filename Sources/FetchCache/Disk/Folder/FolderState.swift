/// What a process knows of a folder that others use as well, and what it is to do next. There is no index: what is there is asked of the
/// file system, what is to go is found by counting one shard after the other, over and over.
struct FolderState: Sendable {
    /// What is to be done for room.
    enum Step: Equatable {
        /// There is room, and it is set aside.
        case enough
        case remove(ColdFiles.File)
        case count(UInt8)
    }

    private var bytes: SharedSum
    private var files: SharedSum
    private let limit: Int64
    private let maximumFiles: Int64
    private var reservedBytes: Int64 = 0
    private var reservedFiles: Int64 = 0
    private var cold = ColdFiles()
    /// How many files may be removed before another shard is to be looked at.
    private var credit = 0.0
    private let order: [UInt8]
    private var turn = 0
    private var addedBytes: Int64 = 0
    private var addedFiles: Int64 = 0
    /// How many shards are to be looked at although there is room: at first all.
    private var wantedCounts = SharedSum.shards
    /// How many shards were looked at since a file came or went.
    private var idleCounts = 0

    /// Of the files seen this share may go. So each is among the least recently used eighth, and nearly always close to the very end.
    private static let shareToGo = 1.0 / 8
    /// Small folders have few files in a shard: one may go for as many shards seen.
    private static let shardsForOne = 64.0
    /// How much of the limit is written between two counts.
    private static let paceOfCounts: Int64 = 1024

    init(limit: Int64, maximumFiles: Int, random: inout some RandomNumberGenerator) {
        bytes = SharedSum(limit: limit)
        files = SharedSum(limit: Int64(maximumFiles))
        self.limit = limit
        self.maximumFiles = Int64(maximumFiles)
        // Processes that share a folder look at different parts of it.
        order = (0...UInt8.max).shuffled(using: &random)
    }

    /// What a file of this size counts as. A stranger's may be a hole of any size: none counts as more than the largest there can be.
    static func cost(ofSize size: Int64) -> Int64 {
        (min(max(0, size), Int64(FolderOptions.largestMaximumFile)) + 4095) / 4096 * 4096 + 512
    }

    var usage: FolderUsage { FolderUsage(bytes: bytes.estimate, files: Int(files.estimate), isCounted: bytes.isCounted) }

    /// Whether all shards have been counted as often as the next one.
    var isRoundComplete: Bool { turn == 0 }

    // MARK: Room

    /// The next step towards room for a file of this cost; to be asked again after each, until there is `enough`.
    mutating func step(toFit cost: Int64) -> Step {
        if fits(cost, slack: 0) {
            reserve(cost)
            return .enough
        }
        return stepToRemove()
    }

    /// Sets room aside although more should be removed first, unless the folder is far above its limit.
    mutating func squeeze(_ cost: Int64) -> Bool {
        guard fits(cost, slack: 16) else { return false }
        reserve(cost)
        return true
    }

    mutating func release(_ cost: Int64) {
        reservedBytes -= cost
        reservedFiles -= 1
    }

    /// The next step to make the folder smaller, whatever its limit.
    mutating func stepToRemove() -> Step {
        if let file = removal() { .remove(file) } else { .count(nextCount()) }
    }

    private mutating func removal() -> ColdFiles.File? {
        guard credit >= 1, let file = cold.popColdest() else { return nil }
        credit -= 1
        return file
    }

    /// A file that may go of a folder above its limit; nil when there is none, or another shard is to be looked at first.
    mutating func removalToLimit() -> ColdFiles.File? { isAboveLimit ? removal() : nil }

    private var isAboveLimit: Bool { bytes.estimate > limit || files.estimate > maximumFiles }

    /// How much of a folder that is above its limit has to go.
    private var excess: Double {
        max(1 - Double(limit) / Double(max(1, bytes.estimate)), 1 - Double(maximumFiles) / Double(max(1, files.estimate)))
    }

    private func fits(_ cost: Int64, slack: Int64) -> Bool {
        let moreBytes = slack == 0 ? 0 : limit / slack
        let moreFiles = slack == 0 ? 0 : max(1, maximumFiles / slack)
        return bytes.estimate + reservedBytes + cost <= limit + moreBytes && files.estimate + reservedFiles + 1 <= maximumFiles + moreFiles
    }

    private mutating func reserve(_ cost: Int64) {
        reservedBytes += cost
        reservedFiles += 1
    }

    // MARK: What was seen and done

    /// Whether a shard is to be looked at although there is room: at first all, then one for each thousandth of the limit that is written,
    /// and as many as it takes in a folder above its limit.
    mutating func isCountWanted() -> Bool {
        if addedBytes >= limit / Self.paceOfCounts || addedFiles >= max(1, maximumFiles / Self.paceOfCounts) {
            wantedCounts = max(wantedCounts, 1)
        }
        // Where nothing can be removed, looking on would never end.
        return wantedCounts > 0 || isAboveLimit && idleCounts < SharedSum.shards
    }

    /// The shard to look at now.
    mutating func nextCount() -> UInt8 {
        let shard = order[turn]
        turn = (turn + 1) % order.count
        addedBytes = 0
        addedFiles = 0
        wantedCounts = max(0, wantedCounts - 1)
        idleCounts += 1
        return shard
    }

    mutating func counted(_ shard: UInt8, _ count: ShardCount) {
        bytes.count(shard, as: count.bytes)
        files.count(shard, as: count.files)
        cold.see(count.cold, of: shard)
        credit = min(credit, Double(ColdFiles.capacity)) + Double(count.files) * max(Self.shareToGo, excess) + 1 / Self.shardsForOne
    }

    /// A file was written, perhaps in the stead of another.
    mutating func added(_ cost: Int64, to shard: UInt8, replacing old: Int64?) {
        bytes.add(cost, to: shard, replacing: old ?? 0)
        files.add(1, to: shard, replacing: old == nil ? 0 : 1)
        addedBytes += cost
        addedFiles += 1
        idleCounts = 0
    }

    /// A file is gone.
    mutating func removed(_ cost: Int64, from shard: UInt8) {
        bytes.remove(cost, from: shard)
        files.remove(1, from: shard)
        idleCounts = 0
    }

    /// A file that was to go was used meanwhile.
    mutating func spared(_ file: ColdFiles.File) {
        cold.see(file)
        cold.trim()
    }
}
