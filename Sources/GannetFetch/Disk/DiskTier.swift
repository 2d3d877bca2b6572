internal import GannetBase
package import GannetHTTP

/// Records on disk, by key: fetched answers, for this process after a restart and for others that share the folder.
///
/// A read returns a record as it was written, with every byte checked, or nothing. A file is written under another name in `temporary/`, locked
/// while its writer lives, and then renamed, so nobody ever sees half a file. Nothing is flushed to the disk. After a power cut the files of
/// the last seconds may be empty, torn or gone, and then they are misses.
///
/// All calls block. `AnswerDisk` makes them on threads of its own.
package final class DiskTier: Sendable {
    struct State {
        var usage = FolderUsage()
        var counts = FolderCounts()
        /// The failures of writes since the last success, and until when no other write is tried.
        var failures = 0
        var pausedUntil: ContinuousClock.Instant?
        var lastFailure: StorageFailure?
        /// The part of the limit that this process has added since it counted the folder, and after which it counts again.
        var added = 0.0
        var pace = DiskTier.longestPace
    }

    let path: String
    let limit: Int64
    let mostFiles: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    let state = Mutex(State())
    /// The files to remove next, of which the last is the first to go. Held while this process counts or changes the folder, so that its sums are exact.
    let cold = Mutex<[ColdFile]>([])

    /// The folder at `path` is made by the first write. Other processes may use it too, and each keeps to its own limit.
    /// - Parameter limit: In bytes. A file counts as its size rounded up to 4 KiB, and half a KiB for its name.
    package init(
        _ path: String, limit: Int64 = 1 << 30, mostFiles: Int = 1_000_000,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) throws(InvalidOptions) {
        try DiskTier.validate(limit: limit)
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        self.limit = limit
        self.mostFiles = mostFiles
        self.now = now
    }

    /// A folder with a smaller limit would be of no use.
    package static let smallestLimit: Int64 = 64 << 10

    package static func validate(limit: Int64) throws(InvalidOptions) {
        try InvalidOptions.unless(limit >= smallestLimit, "A folder's limit is at least \(smallestLimit) bytes.")
        try InvalidOptions.unless(limit <= 1 << 60, "A folder's limit is at most \(1 << 60) bytes.")
    }

    /// The bytes of the largest body of any process.
    static let largestBody = 100_000_000
    /// A body takes a quarter of the limit at most, so that one file cannot empty the folder.
    private var largestBody: Int { min(Self.largestBody, Int(limit / 4)) }

    /// How full the folder is, as far as this process knows.
    package var usage: FolderUsage { state.withLock { $0.usage } }

    package var counts: FolderCounts { state.withLock { $0.counts } }

    func note(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    // MARK: Reading

    /// The record of a key. Nil when there is none, and when it cannot be read.
    package func read(_ key: CacheKey) -> DiskRecord? {
        do {
            return try find(key)
        } catch {
            note { $0.counts.failedReads += 1 }
            return nil
        }
    }

    private func find(_ key: CacheKey) throws -> DiskRecord? {
        let name = EntryName(key)
        guard let folder = try shard(name.shard), let file = try FoundFile(name.file, in: folder),
            file.size <= DiskRecord.mostStart + Self.largestBody
        else { return nil }
        if let record = try record(of: key, in: file) {
            file.noteUse()
            return record
        }
        note { $0.counts.damaged += 1 }
        let number = file.status.number
        try cold.withLock { _ in
            // Another process may have put a good file in its place.
            if try FileStatus(name.file, in: folder)?.number == number { _ = try remove(name, in: folder) }
        }
        return nil
    }

    /// Nil for a damaged file.
    private func record(of key: CacheKey, in file: borrowing FoundFile) throws -> DiskRecord? {
        guard let start = try file.bytes(min(file.size, DiskRecord.mostStart), at: 0), let offset = DiskRecord.bodyOffset(in: start) else {
            return nil
        }
        if start.count == file.size { return DiskRecord(start, body: Array(start[offset...]), of: key) }
        // The part of the body that has been read is read again, so that nothing of it is copied.
        return try file.bytes(file.size - offset, at: offset).flatMap { DiskRecord(start, body: $0, of: key) }
    }

    // MARK: Writing

    /// Keeps a record under a key, and replaces the former one.
    package func write(_ key: CacheKey, metadata: [UInt8], body: [UInt8]) throws {
        guard metadata.count <= DiskRecord.mostMetadata, body.count <= largestBody else { throw StorageFailure(.tooLarge) }
        try beginWriting()
        do {
            try store(EntryName(key), [DiskRecord(metadata: metadata, body: body).start(of: key), body])
        } catch let failure as StorageFailure {
            noteFailure(failure)
            throw failure
        }
        note { state in
            state.counts.writes += 1
            state.failures = 0
        }
    }

    private func store(_ name: EntryName, _ parts: [[UInt8]]) throws {
        let cost = FileStatus.cost(ofSize: Int64(parts.reduce(0) { $0 + $1.count }))
        do {
            try storeOnce(name, parts, cost)
        } catch let failure as StorageFailure where failure.isAbsence || failure.isFullDisk {
            // Somebody has removed the folder or the file, or others have filled the disk.
            if failure.isFullDisk { try? shrink(by: 2 * cost) }
            try storeOnce(name, parts, cost)
        }
    }

    private func storeOnce(_ name: EntryName, _ parts: [[UInt8]], _ cost: Int64) throws {
        let root = try makeRoot()
        let file = try BodyFile(lockedIn: OpenFolder(Self.temporaryName, in: root, creating: true))
        for part in parts { try file.write(part) }
        try cold.withLock { cold in
            try makeRoom(for: cost, &cold)
            let folder = try OpenFolder(EntryName.folder(name.shard), in: root, creating: true)
            let old = try FileStatus(name.file, in: folder)
            try file.move(to: folder, as: name.file)
            noteAdded(cost, replacing: old)
        }
    }

    /// Removes the record of a key; false when there is none.
    @discardableResult
    package func remove(_ key: CacheKey) throws -> Bool {
        let name = EntryName(key)
        return try cold.withLock { _ in
            guard let folder = try shard(name.shard) else { return false }
            return try remove(name, in: folder)
        }
    }

    /// Removes all records, including those of other processes. Records that are written meanwhile may stay.
    package func removeAll() throws {
        for shard in 0...UInt8.max {
            try cold.withLock { _ in
                guard let folder = try self.shard(shard) else { return }
                var names: [EntryName] = []
                try folder.forEachName { file in
                    if let name = EntryName(file: file, shard: shard) { names.append(name) }
                }
                for name in names { _ = try remove(name, in: folder) }
            }
        }
    }

    /// False when there is none. Anything but a regular file belongs to others and stays.
    func remove(_ name: EntryName, in folder: OpenFolder) throws -> Bool {
        guard let status = try FileStatus(name.file, in: folder), status.isRegular, try folder.removeFile(name.file) else { return false }
        noteRemoved(status)
        return true
    }

    // MARK: A disk that refuses

    private static let failuresBeforePause = 3
    private static let pauses = Backoff(first: .seconds(1), longest: .seconds(60))

    /// Throws where writing is paused, because the system has refused three writes in a row. After a pause one write is tried.
    private func beginWriting() throws {
        let now = now()
        let cause = state.withLock { state -> StorageFailure? in
            guard state.failures >= Self.failuresBeforePause, let end = state.pausedUntil else { return nil }
            guard now >= end else {
                state.counts.pausedWrites += 1
                return state.lastFailure
            }
            state.failures += 1
            state.pausedUntil = now + Self.pauses.pause(after: state.failures - Self.failuresBeforePause)
            return nil
        }
        if let cause { throw StorageFailure(.paused(errno: cause.errno), action: cause.action, path: cause.path) }
    }

    private func noteFailure(_ failure: StorageFailure) {
        let now = now()
        note { state in
            state.counts.failedWrites += 1
            guard case .system = failure.reason else { return }
            state.lastFailure = failure
            guard state.failures < Self.failuresBeforePause else { return }
            state.failures += 1
            state.pausedUntil = now + Self.pauses.first
        }
    }

    // MARK: Folders

    private static let temporaryName = "temporary"

    private func makeRoot() throws -> OpenFolder {
        do throws(StorageFailure) {
            return try OpenFolder(path)
        } catch {
            guard error.isAbsence else { throw error }
            try OpenFolder.make(path)
            return try OpenFolder(path)
        }
    }

    /// The subfolder of entries with this first byte; nil when there is none.
    func shard(_ shard: UInt8) throws -> OpenFolder? { try subfolder(EntryName.folder(shard)) }

    /// The folder of files that are being written; nil when there is none.
    func temporary() throws -> OpenFolder? { try subfolder(Self.temporaryName) }

    private func subfolder(_ name: String) throws -> OpenFolder? {
        do throws(StorageFailure) {
            return try OpenFolder("\(path)/\(name)", followingLink: false)
        } catch {
            guard error.isAbsence else { throw error }
            return nil
        }
    }
}

/// How much is in a folder.
package struct FolderUsage: Sendable, Hashable {
    /// Counted as the limit is.
    package var bytes: Int64 = 0
    package var files = 0
    /// Whether the folder has been counted since it was opened.
    package var isCounted = false
}

/// Counts of reads and writes since a folder was opened.
package struct FolderCounts: Sendable, Hashable {
    /// Reads that the system refused. They found nothing.
    package var failedReads = 0
    /// Damaged files, which were removed.
    package var damaged = 0
    package var writes = 0
    /// Writes that the system refused, or for which no room could be made.
    package var failedWrites = 0
    /// Writes that were not tried because several before had failed.
    package var pausedWrites = 0
    /// Files that were removed to make room.
    package var evictions = 0
    /// Half-written files of dead writers that were removed.
    package var leftovers = 0
}
