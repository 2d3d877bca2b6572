package import HTTPEngine

/// How large a folder that is kept within bounds may be, and how it is worked with.
package struct FolderOptions: Sendable {
    /// Bytes of disk. A file counts as its size rounded up to 4 KiB, and half a KiB for its name and the like. Of several processes that
    /// share a folder each keeps to its own limit, so the smallest counts.
    package var limit: Int64 = 1 << 30
    /// How many files.
    package var maximumFiles = 1_000_000
    /// Bytes of the largest file; at most a quarter of the limit, lest one file empties the folder.
    package var maximumFile = 100_000_000
    /// How many threads read and write.
    package var threads = 4
    /// How many reads may wait for a thread; beyond, a read finds nothing.
    package var maximumWaitingReads = 4096
    /// How many writes may wait for a thread; beyond, those that may be dropped are.
    package var maximumWaitingWrites = 256
    /// Bytes of what waits to be written, with the same end.
    package var maximumWaitingBytes = 64 << 20
    /// The longest pause in writing after the system refused several times.
    package var longestPause: Duration = .seconds(60)
    /// A file's use is noted at most this often: the order in which files go is as exact as that.
    package var useInterval: Duration = .seconds(60)
    /// What a dead writer left is removed at this age where the file system has no locks that tell the living.
    package var leftoverAge: Duration = .seconds(3600)

    package init() {}

    /// No file may be larger.
    static let largestMaximumFile = 64 << 30

    /// The least limit that is of any use.
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
    }

    /// Bytes that a file of the folder may have.
    var largestFile: Int { min(maximumFile, Int(limit / 4)) }
}
