/// The knowledge that one process has of a folder which others use too; decides on the next step of its work.
///
/// There is no index. The file system knows what is there. Files to remove are found by counting one subfolder ("shard") after the other,
/// over and over.
struct FolderState: Sendable {
    /// The next step towards more room.
    enum Step: Equatable {
        /// There is room, and it is reserved.
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
    /// How many files may be removed before another shard has to be counted.
    private var credit = 0.0
    private let order: [UInt8]
    private var turn = 0
    private var addedBytes: Int64 = 0
    private var addedFiles: Int64 = 0
    /// How many shards are counted although there is room: at first all.
    private var wantedCounts = SharedSum.shards
    /// How many shards were counted since a file came or went.
    private var idleCounts = 0
    /// The changes that this process makes in each shard. A count that runs beside a change may have seen it or not.
    private var activity = [Activity](repeating: Activity(), count: SharedSum.shards)

    struct Activity: Sendable, Equatable {
        /// How many changes are under way.
        fileprivate var underWay = 0
        /// How many there have been.
        fileprivate var ended = 0
    }

    /// The share of the files seen that may go. So each is among the least recently used eighth, and nearly always close to the very end.
    private static let shareToGo = 1.0 / 8
    /// A small folder has few files in a shard: after this many counted shards one file may go.
    private static let shardsForOne = 64.0
    /// The part of the limit that is written between two counts.
    private static let paceOfCounts: Int64 = 1024

    init(limit: Int64, maximumFiles: Int, random: inout some RandomNumberGenerator) {
        bytes = SharedSum(limit: limit)
        files = SharedSum(limit: Int64(maximumFiles))
        self.limit = limit
        self.maximumFiles = Int64(maximumFiles)
        // Processes that share a folder count its parts in different orders.
        order = (0...UInt8.max).shuffled(using: &random)
    }

    /// The cost of a file of this size. A planted file may be a hole of any size, so no cost is above that of the largest file permitted.
    static func cost(ofSize size: Int64) -> Int64 {
        (min(max(0, size), Int64(DiskTierOptions.largestMaximumFile)) + 4095) / 4096 * 4096 + 512
    }

    var usage: FolderUsage { FolderUsage(bytes: bytes.estimate, files: Int(files.estimate), isCounted: bytes.isCounted) }

    /// Whether all shards have been counted equally often.
    var isRoundComplete: Bool { turn == 0 }

    // MARK: Room

    /// The next step towards room for a file of this cost. It is asked for again after each step, until there is `enough`.
    mutating func step(toFit cost: Int64) -> Step {
        if fits(cost, slack: 0) {
            reserve(cost)
            return .enough
        }
        return stepToRemove()
    }

    /// Reserves room although more should be removed first, unless the folder is far above its limit.
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

    /// A file to remove from a folder above its limit; nil when there is none, or another shard has to be counted first.
    mutating func removalToLimit() -> ColdFiles.File? { isAboveLimit ? removal() : nil }

    private var isAboveLimit: Bool { bytes.estimate > limit || files.estimate > maximumFiles }

    /// The part of a folder above its limit that has to go.
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

    // MARK: Counts and changes

    /// Whether a shard is to be counted although there is room. At first all shards are, and then one for each thousandth of the limit that
    /// is written. Of a folder above its limit as many are counted as it takes.
    mutating func isCountWanted() -> Bool {
        if addedBytes >= limit / Self.paceOfCounts || addedFiles >= max(1, maximumFiles / Self.paceOfCounts) {
            wantedCounts = max(wantedCounts, 1)
        }
        // Where nothing can be removed, counting on would never end.
        return wantedCounts > 0 || isAboveLimit && idleCounts < SharedSum.shards
    }

    /// The shard to count now.
    mutating func nextCount() -> UInt8 {
        let shard = order[turn]
        turn = (turn + 1) % order.count
        addedBytes = 0
        addedFiles = 0
        wantedCounts = max(0, wantedCounts - 1)
        idleCounts += 1
        return shard
    }

    /// The changes in a shard. A count takes them at its start, for ``isBelievable(_:since:)`` at its end.
    func activity(in shard: UInt8) -> Activity { activity[Int(shard)] }

    /// Whether a count tells what is in a shard: this process has changed nothing meanwhile.
    func isBelievable(_ shard: UInt8, since start: Activity) -> Bool { start.underWay == 0 && activity[Int(shard)] == start }

    /// Whether a shard was ever counted.
    func isCounted(_ shard: UInt8) -> Bool { bytes.isCounted(shard) }

    mutating func beginChange(of shard: UInt8) { activity[Int(shard)].underWay += 1 }

    mutating func endChange(of shard: UInt8) {
        activity[Int(shard)].underWay -= 1
        activity[Int(shard)].ended += 1
    }

    mutating func counted(_ shard: UInt8, _ count: ShardCount) {
        bytes.count(shard, as: count.bytes)
        files.count(shard, as: count.files)
        cold.see(count.cold, of: shard)
        credit = min(credit, Double(ColdFiles.capacity)) + Double(count.files) * max(Self.shareToGo, excess) + 1 / Self.shardsForOne
    }

    /// Notes that a file was written, which may have replaced another.
    mutating func added(_ cost: Int64, to shard: UInt8, replacing old: Int64?) {
        bytes.add(cost, to: shard, replacing: old ?? 0)
        files.add(1, to: shard, replacing: old == nil ? 0 : 1)
        addedBytes += cost
        addedFiles += 1
        idleCounts = 0
    }

    /// Notes that a file is gone.
    mutating func removed(_ cost: Int64, from shard: UInt8) {
        bytes.remove(cost, from: shard)
        files.remove(1, from: shard)
        idleCounts = 0
    }

    /// Notes that a file which was to go has been used meanwhile.
    mutating func spared(_ file: ColdFiles.File) {
        cold.see(file)
        cold.trim()
    }
}

/// The files of one shard.
struct ShardCount: Sendable {
    var bytes: Int64 = 0
    var files: Int64 = 0
    var cold = ColdFiles()
}

/// The least recently used of all files seen, which are removed next.
struct ColdFiles: Sendable {
    struct File: Sendable, Hashable {
        let name: EntryName
        let bytes: Int64
        /// Nanoseconds since 1970, by the clock of the file system.
        let used: Int64
    }

    static let capacity = 1024

    /// The least recently used file is the last.
    private var files: [File] = []

    var isEmpty: Bool { files.isEmpty }

    /// Replaces the files of a shard by those that a new count found.
    mutating func see(_ new: ColdFiles, of shard: UInt8) {
        files.removeAll { $0.name.shard == shard }
        files += new.files
        trim()
    }

    /// Adds a file. The caller calls `trim` at last.
    mutating func see(_ file: File) {
        files.append(file)
        if files.count >= 2 * Self.capacity { trim() }
    }

    mutating func trim() {
        files.sort { $0.used > $1.used }
        if files.count > Self.capacity { files.removeFirst(files.count - Self.capacity) }
    }

    /// Takes out the file to be removed next.
    mutating func popColdest() -> File? { files.popLast() }
}
