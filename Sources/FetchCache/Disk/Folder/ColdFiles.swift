/// The files that were used least recently, of all that were seen: those to be removed next.
struct ColdFiles: Sendable {
    struct File: Sendable, Hashable {
        let name: EntryName
        /// What it counts as.
        let bytes: Int64
        /// Nanoseconds since 1970, by the clock of the file system.
        let used: Int64
    }

    static let capacity = 1024

    /// The least recently used one is the last.
    private var files: [File] = []

    var isEmpty: Bool { files.isEmpty }

    /// Takes note of a shard's files; what was known of the shard before is out of date.
    mutating func see(_ new: ColdFiles, of shard: UInt8) {
        files.removeAll { $0.name.shard == shard }
        files += new.files
        trim()
    }

    /// Takes note of one file. To be followed by `trim` at last.
    mutating func see(_ file: File) {
        files.append(file)
        if files.count >= 2 * Self.capacity { trim() }
    }

    mutating func trim() {
        files.sort { $0.used > $1.used }
        if files.count > Self.capacity { files.removeFirst(files.count - Self.capacity) }
    }

    /// Takes out the one to be removed next.
    mutating func popColdest() -> File? { files.popLast() }
}
