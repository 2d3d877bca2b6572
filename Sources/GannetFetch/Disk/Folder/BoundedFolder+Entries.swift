internal import GannetBase
internal import GannetHTTP

// The operations on one entry, or on all. Each blocks, unless it is async.
extension BoundedFolder {
    /// A reader's judgement of a file.
    enum Reading<Value> {
        case good(Value)
        /// The file is removed.
        case damaged
        /// The file is left alone, but this reader cannot use it.
        case useless
    }

    /// Reads an entry for a caller. Nil when there is none, or it cannot be read.
    func read<Value>(_ name: EntryName, _ body: (borrowing FoundFile) throws -> Reading<Value>) -> Value? {
        do {
            let value = try find(name, body)
            note { if value == nil { $0.misses += 1 } else { $0.hits += 1 } }
            return value
        } catch {
            note { $0.failedReads += 1 }
            return nil
        }
    }

    /// Reads an entry, and removes it if it is damaged.
    func find<Value>(_ name: EntryName, _ body: (borrowing FoundFile) throws -> Reading<Value>) throws -> Value? {
        guard let shard = try shard(name.shard), let file = try FoundFile(name.file, in: shard) else { return nil }
        switch try body(file) {
        case .good(let value):
            file.noteUse(unlessWithin: options.useInterval)
            return value
        case .useless: return nil
        case .damaged:
            note { $0.damaged += 1 }
            // Another process may have put a good file in its place.
            try changing(name.shard) {
                if try FileStatus(name.file, in: shard)?.number == file.number, try shard.removeFile(name.file) {
                    let cost = FolderState.cost(ofSize: Int64(file.size))
                    withState { $0.removed(cost, from: name.shard) }
                }
            }
            return nil
        }
    }

    /// Removes an entry; false when there is none. Anything but a regular file belongs to others and stays.
    func remove(_ name: EntryName) throws -> Bool {
        try changing(name.shard) {
            guard let shard = try shard(name.shard), let status = try FileStatus(name.file, in: shard), status.isRegular,
                try shard.removeFile(name.file)
            else { return false }
            withState { $0.removed(FolderState.cost(ofSize: status.size), from: name.shard) }
            return true
        }
    }

    /// Removes all entries, one subfolder after the other, so that other jobs have their turn.
    func removeAll() async throws {
        for shard in 0...UInt8.max {
            try await removing { [self] in
                var names: [EntryName] = []
                try self.shard(shard)?.forEachName { file in
                    if let name = EntryName(file: file, shard: shard) { names.append(name) }
                }
                for name in names { _ = try remove(name) }
            }
        }
    }

    /// The usage after counting all subfolders. A subfolder that could not be counted is estimated.
    func countedUsage() async -> FolderUsage {
        for shard in 0...UInt8.max {
            guard case .done = await threads.run(.reads, mayBeRefused: false, { [self] _ in count(shard) }) else { break }
        }
        return usage
    }

    /// Makes an entry of a temporary file that `write` fills; it replaces an entry of the same name.
    ///
    /// Makes room first. Tries again where that may help: when the folder was removed, and when the disk is full and something could be
    /// removed.
    func store(_ name: EntryName, size: Int, _ write: (BodyFile) throws -> Void) throws {
        guard size <= options.largestFile else { throw StorageFailure(.tooLarge) }
        try beginWriting()
        let cost = FolderState.cost(ofSize: Int64(size))
        try makeRoom(for: cost)
        defer { withState { $0.release(cost) } }
        var mayReopen = true
        var mayRemove = true
        while true {
            do {
                return try storeOnce(name, cost, write)
            } catch let failure as StorageFailure where failure.isAbsence && mayReopen {
                mayReopen = false
                if let root = try? makeRoot() { forgetIfGone(root) }
            } catch let failure as StorageFailure where failure.isFullDisk && mayRemove {
                mayRemove = false
                guard shrink(by: 2 * cost) else { throw failure }
            }
        }
    }

    private func storeOnce(_ name: EntryName, _ cost: Int64, _ write: (BodyFile) throws -> Void) throws {
        let shard = try OpenFolder(name.folder, in: makeRoot(), creating: true)
        let file = try BodyFile(lockedIn: makeTemporary())
        try write(file)
        try changing(name.shard) {
            let old = try FileStatus(name.file, in: shard)
            try file.move(to: shard, as: name.file)
            let replaced = old.flatMap { $0.isRegular ? FolderState.cost(ofSize: $0.size) : nil }
            withState { $0.added(cost, to: name.shard, replacing: replaced) }
        }
        noteWritten()
    }
}

/// The name of an entry of a bounded folder: `ab/cd….record`, with an id in hexadecimal digits.
///
/// The first byte of the id is the subfolder, so a million entries are four thousand to a subfolder. Ids are evenly distributed, as digests
/// are, so any of the 256 subfolders says something about all.
struct EntryName: Sendable, Hashable {
    let shard: UInt8
    let file: String

    private static let ending = ".record"

    init(_ id: [UInt8]) {
        shard = id[0]
        file = Array(id.dropFirst()).hexadecimal + Self.ending
    }

    /// For a file that was found in a subfolder; nil when it is no entry.
    init?(file: String, shard: UInt8) {
        let digits = file.utf8.dropLast(Self.ending.utf8.count)
        guard file.hasSuffix(Self.ending), (30...126).contains(digits.count), digits.count.isMultiple(of: 2),
            digits.allSatisfy(\.isSmallHexadecimalDigit)
        else { return nil }
        self.shard = shard
        self.file = file
    }

    var folder: String { Self.folder(shard) }

    static func folder(_ shard: UInt8) -> String { [shard].hexadecimal }
}

extension StorageFailure {
    /// The file or folder is not there: it never was, or it was removed.
    var isAbsence: Bool { isRefusal && (errno == ENOENT || errno == ESTALE) }

    private var isRefusal: Bool { if case .system = reason { true } else { false } }
}
