package import GannetHTTP

/// The limits of a folder with records, and how it is worked with.
package struct DiskTierOptions: Sendable {
    /// In bytes. A file counts as its size rounded up to 4 KiB, and half a KiB for its name. Each process that shares the folder keeps to its
    /// own limit, so the smallest limit counts.
    package var limit: Int64 = 1 << 30
    package var maximumFiles = 1_000_000
    /// The bytes of the largest file. It is at most a quarter of the limit, so that one file cannot empty the folder.
    package var maximumFile = 100_000_000
    /// The bytes of the largest metadata.
    package var maximumMetadata = 64 << 10
    /// The threads that read and write.
    package var threads = 4
    /// The reads that may wait for a thread. Another read finds nothing.
    package var maximumWaitingReads = 4096
    /// The writes that may wait for a thread. Another write is dropped.
    package var maximumWaitingWrites = 256
    /// The bytes that may wait to be written. Another write is dropped.
    package var maximumWaitingBytes = 64 << 20
    /// The longest pause after the system has refused several writes.
    package var longestPause: Duration = .seconds(60)
    /// How often the use of a file is noted at most. Evictions are as exact as this.
    package var useInterval: Duration = .seconds(60)
    /// The age at which a dead writer's file is removed where the file system has no locks.
    package var leftoverAge: Duration = .seconds(3600)

    package init() {}

    /// No file may be larger.
    static let largestMaximumFile = 64 << 30

    /// A folder with a smaller limit would be of no use.
    package static let smallestLimit: Int64 = 64 << 10

    package func validate() throws(InvalidOptions) {
        func require(_ condition: Bool, _ sentence: String) throws(InvalidOptions) {
            guard condition else { throw InvalidOptions(sentence) }
        }
        try require(limit >= Self.smallestLimit, "A folder's limit is at least \(Self.smallestLimit) bytes.")
        try require(limit <= 1 << 60, "A folder's limit is at most \(1 << 60) bytes.")
        try require((1...1_000_000_000).contains(maximumFiles), "A folder holds 1 to 1000000000 files.")
        try require((1...Self.largestMaximumFile).contains(maximumFile), "The largest file has 1 to \(Self.largestMaximumFile) bytes.")
        try require((1...64).contains(threads), "A folder has 1 to 64 threads.")
        try require(maximumWaitingReads > 0 && maximumWaitingWrites > 0, "At least one read and one write may wait.")
        try require(maximumWaitingBytes > 0, "At least one byte may wait to be written.")
        try require(longestPause > .zero, "The longest pause is longer than nothing.")
        try require(useInterval >= .zero && leftoverAge >= .zero, "No interval is less than nothing.")
        try require((0...(16 << 20)).contains(maximumMetadata), "The largest metadata has 0 to \(16 << 20) bytes.")
    }

    /// The bytes that a file of the folder may have.
    var largestFile: Int { min(maximumFile, Int(limit / 4)) }
}

/// How much is in a folder.
package struct FolderUsage: Sendable, Hashable {
    /// Counted as ``DiskTierOptions/limit`` says.
    package var bytes: Int64
    package var files: Int
    /// Whether all files have been counted since the folder was opened. Changes by other processes since then are estimated.
    package var isCounted: Bool
}

/// Counts of reads and writes since a folder was opened.
package struct FolderCounts: Sendable, Hashable {
    package var hits = 0
    package var misses = 0
    /// Reads that the system refused, or for which there was no thread. They found nothing.
    package var failedReads = 0
    /// Damaged files, which were removed.
    package var damaged = 0
    package var writes = 0
    /// Writes that the system refused, or for which no room could be made.
    package var failedWrites = 0
    /// Writes that were not tried because several before had failed.
    package var pausedWrites = 0
    /// Writes that were dropped because too many waited.
    package var droppedWrites = 0
    /// Files that were removed to make room.
    package var evictions = 0
    /// Half-written files of dead writers that were removed.
    package var leftovers = 0
}
