internal import HTTPEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// What a folder's users do with an entry; each call blocks.
extension BoundedFolder {
    /// What a reader makes of a file.
    enum Reading<Value> {
        case good(Value)
        /// Not what it should be: it is removed.
        case damaged
        /// Of no use to this reader, and to be left alone.
        case useless
    }

    /// Reads an entry for a caller. Nil when there is none, or none that is good and can be read.
    func read<Value>(_ name: EntryName, _ body: (borrowing FoundFile) throws(StorageFailure) -> Reading<Value>) -> Value? {
        do throws(StorageFailure) {
            let value = try find(name, body)
            note { if value == nil { $0.misses += 1 } else { $0.hits += 1 } }
            return value
        } catch {
            note { $0.failedReads += 1 }
            return nil
        }
    }

    /// Reads an entry, and removes one that is damaged.
    func find<Value>(
        _ name: EntryName, _ body: (borrowing FoundFile) throws(StorageFailure) -> Reading<Value>
    ) throws(StorageFailure) -> Value? {
        guard let shard = try shard(name.shard), let file = try FoundFile(name.file, in: shard) else { return nil }
        switch try body(file) {
        case .good(let value):
            file.noteUse(unlessWithin: options.useInterval)
            return value
        case .useless: return nil
        case .damaged:
            note { $0.damaged += 1 }
            // Unless somebody has put a good one in its place.
            if try FileStatus(name.file, in: shard)?.number == file.number, try shard.removeFile(name.file) {
                let cost = FolderState.cost(ofSize: Int64(file.size))
                withState { $0.removed(cost, from: name.shard) }
            }
            return nil
        }
    }

    /// Removes an entry; false when there is none. What is no file is not the cache's.
    func remove(_ name: EntryName) throws(StorageFailure) -> Bool {
        guard let shard = try shard(name.shard), let status = try FileStatus(name.file, in: shard), status.isRegular,
            try shard.removeFile(name.file)
        else { return false }
        withState { $0.removed(FolderState.cost(ofSize: status.size), from: name.shard) }
        return true
    }

    /// Removes all entries of a shard.
    func removeAll(of shard: UInt8) throws(StorageFailure) {
        guard let folder = try self.shard(shard) else { return }
        var names: [EntryName] = []
        try folder.forEachName { file in
            if let name = EntryName(file: file, shard: shard, kind: kind) { names.append(name) }
        }
        for name in names { _ = try remove(name) }
    }

    /// Makes an entry of a temporary file that `write` fills, in the stead of one of its name.
    func store(
        _ name: EntryName, size: Int, _ write: (BodyFile) throws(StoreFailure) -> Void
    ) throws(StoreFailure) {
        try place(name, size: size) { (shard) throws(StoreFailure) in
            let file = try StoreFailure.wrapping { () throws(StorageFailure) in try BodyFile(lockedIn: makeTemporary()) }
            try write(file)
            try StoreFailure.wrapping { () throws(StorageFailure) in try file.move(to: shard, as: name.file) }
        }
    }

    /// Makes room for an entry, has `put` bring it to the folder it belongs in, and tries again where that may help: when the folder was
    /// removed, and when the disk is full and something could be removed.
    func place(
        _ name: EntryName, size: Int, _ put: (OpenFolder) throws(StoreFailure) -> Void
    ) throws(StoreFailure) {
        guard size <= options.largestFile else { throw .tooLarge }
        try beginWriting()
        let cost = FolderState.cost(ofSize: Int64(size))
        try makeRoom(for: cost)
        defer { withState { $0.release(cost) } }
        var mayReopen = true
        var mayRemove = true
        while true {
            do throws(StoreFailure) {
                return try placeOnce(name, cost, put)
            } catch {
                guard case .system(let failure) = error else { throw error }
                if failure.isAbsence, mayReopen {
                    mayReopen = false
                    if let root = try? makeRoot() { forgetIfGone(root) }
                } else if failure.isFullDisk, mayRemove {
                    mayRemove = false
                    guard shrink(by: 2 * cost) else { throw error }
                } else {
                    throw error
                }
            }
        }
    }

    private func placeOnce(
        _ name: EntryName, _ cost: Int64, _ put: (OpenFolder) throws(StoreFailure) -> Void
    ) throws(StoreFailure) {
        let (shard, old) = try StoreFailure.wrapping { () throws(StorageFailure) in
            let shard = try OpenFolder(name.folder, in: makeRoot(), creating: true)
            return (shard, try FileStatus(name.file, in: shard))
        }
        try put(shard)
        let replaced = old.flatMap { $0.isRegular ? FolderState.cost(ofSize: $0.size) : nil }
        withState { $0.added(cost, to: name.shard, replacing: replaced) }
        noteWritten()
    }
}

extension StoreFailure {
    /// Runs what the system may refuse.
    static func wrapping<Value>(_ body: () throws(StorageFailure) -> Value) throws(StoreFailure) -> Value {
        do throws(StorageFailure) { return try body() } catch { throw .system(error) }
    }
}
