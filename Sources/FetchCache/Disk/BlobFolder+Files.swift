internal import HTTPEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension BoundedFolder {
    /// Notes that an entry was used; false when there is none, or none of the size.
    func noteUse(of name: EntryName, size: Int?) -> Bool {
        guard let shard = try? shard(name.shard), let file = try? FoundFile(name.file, in: shard), size == nil || file.size == size else {
            return false
        }
        file.noteUse(unlessWithin: options.useInterval)
        return true
    }

    /// Makes an entry of somebody's file.
    func take(
        _ path: String, as name: EntryName, _ digest: SHA256Digest, for caller: FileThreads.Caller
    ) throws(StoreFailure) {
        let source = try openSource(path)
        var isElsewhere = false
        try place(name, size: source.size) { (shard) throws(StoreFailure) in
            guard renameat(AT_FDCWD, path, shard.descriptor, name.file) != 0 else { return }
            guard errno == EXDEV else { throw .system(StorageFailure(action: "move", path: path, errno: errno)) }
            isElsewhere = true
            let copy = try StoreFailure.wrapping { () throws(StorageFailure) in try BodyFile(lockedIn: makeTemporary()) }
            switch source.copy(to: copy, for: caller) {
            case .whole(digest): break
            case .whole: throw .wrongDigest
            case .unreadable(let failure): throw .source(failure)
            case .unwritable(let failure): throw .system(failure)
            case .left: throw .cancelled
            }
            try StoreFailure.wrapping { () throws(StorageFailure) in try copy.move(to: shard, as: name.file) }
        }
        if isElsewhere { unlink(path) }
    }

    private func openSource(_ path: String) throws(StoreFailure) -> FoundFile {
        do throws(StorageFailure) {
            guard let source = try FoundFile(path: path) else { throw StorageFailure(action: "find a file", path: path, errno: ENOENT) }
            try source.adopt()
            return source
        } catch {
            throw .source(error)
        }
    }
}

extension FoundFile {
    /// What became of a copy.
    enum Copy {
        case whole(SHA256Digest)
        case unreadable(StorageFailure)
        case unwritable(StorageFailure)
        /// The caller has left.
        case left
    }

    /// Appends all of the file to another.
    func copy(to target: BodyFile, for caller: FileThreads.Caller) -> Copy {
        let hasher = SHA256Hasher()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.piece, alignment: 16)
        defer { buffer.deallocate() }
        var offset = 0
        while true {
            guard !caller.isGone else { return .left }
            let count: Int
            do throws(StorageFailure) { count = try read(into: buffer, at: offset) } catch { return .unreadable(error) }
            guard count > 0 else { return .whole(hasher.finish()) }
            let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            hasher.update(piece)
            do throws(StorageFailure) { try target.write(piece) } catch { return .unwritable(error) }
            offset += count
        }
    }
}
