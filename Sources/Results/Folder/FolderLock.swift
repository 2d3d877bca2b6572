internal import GannetBase
package import GannetHTTP

/// The right to write to a folder: for one run alone, or for any number of workers. The kernel drops the lock when the process ends.
package struct FolderLock: ~Copyable {
    package enum Use: Sendable {
        /// The use by a run. No other process writes, so unfinished files can be removed.
        case alone
        /// The use by a worker, beside other workers.
        case shared
    }

    private let lock: FileLock
    private let folder: String
    private var pipe: FinishPipe?

    private static let name = BodyFolder.temporaryPrefix + "lock"

    /// `nil` if another process holds the folder in a way that excludes this use.
    package init?(_ folder: BodyFolder, _ use: Use = .alone) throws(StorageFailure) {
        let path = "\(folder.path)/\(Self.name)"
        self.folder = folder.path
        guard let lock = FileLock.take(path, use == .alone ? .exclusive : .shared, permissions: 0o644) else {
            if errno == EWOULDBLOCK { return nil }
            throw StorageFailure.refused("file", path, "written")
        }
        self.lock = lock
    }

    /// Removes unfinished files and returns their number. Where the lock is shared, only files may go that no living worker still needs.
    package borrowing func sweep(olderThan age: Duration? = nil) -> Int {
        let latest = age.map { time(nil) - Int($0.components.seconds) } ?? .max
        var removed = 0
        for name in BodyFolder.names(in: folder) ?? [] where name.hasPrefix(BodyFolder.temporaryPrefix) && name != Self.name {
            let path = "\(folder)/\(name)"
            guard let status = fileStatus(path), status.isFile, status.modification.tv_sec <= latest, unlink(path) == 0 else { continue }
            removed += 1
        }
        return removed
    }

    /// A random name of the folder, made when the folder is first used alone. It tells folders with the same path on two machines apart.
    package borrowing func identity() throws(StorageFailure) -> String {
        let path = "\(folder)/\(Self.name)"
        var bytes = [UInt8](repeating: 0, count: Self.identityLength)
        let count = pread(lock.descriptor, &bytes, bytes.count, 0)
        if count == bytes.count, bytes.allSatisfy({ Self.digits.contains($0) }) { return String(decoding: bytes, as: UTF8.self) }
        bytes = (0..<Self.identityLength).map { _ in Self.digits.randomElement()! }
        guard count >= 0, Descriptor.write(bytes, to: lock.descriptor, at: 0), ftruncate(lock.descriptor, off_t(bytes.count)) == 0 else {
            throw StorageFailure.refused("file", path, "written")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let identityLength = 24
    private static let digits = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)

    /// Makes the pipe through which other processes ask the run to end. The lock has to be held alone.
    package mutating func finishPipe(in folder: BodyFolder) -> FinishPipe {
        let made = FinishPipe(in: folder)
        pipe = made
        return made
    }

    /// Whether a process holds the folder alone. An instant of this look may keep a run out that begins in it.
    static func isHeldByRun(in folder: BodyFolder) -> Bool {
        let opened = open("\(folder.path)/\(name)", O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else { return false }
        defer { close(opened) }
        return flock(opened, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    deinit {
        pipe?.remove()
        // The pipe is closed behind it: an asker that sees the pipe closed may begin the next run at once.
        lock.release()
    }
}
