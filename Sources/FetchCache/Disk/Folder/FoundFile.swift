internal import HTTPEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A regular file of a folder that is open for reading. It stays what it was when it is replaced or removed meanwhile.
struct FoundFile: ~Copyable {
    private let descriptor: Int32
    let size: Int
    /// Which file of its file system.
    let number: UInt64
    let links: Int
    private let used: Int64
    private let path: String

    /// Nil when there is none of this name, or it is no regular file.
    init?(_ name: String, in folder: OpenFolder, forWriting: Bool = false) throws(StorageFailure) {
        try self.init(name, at: folder.descriptor, path: "\(folder.path)/\(name)", forWriting ? O_RDWR : O_RDONLY)
    }

    /// The file at a path of the caller's.
    init?(path: String) throws(StorageFailure) {
        try self.init(path, at: AT_FDCWD, path: path, O_RDONLY)
    }

    private init?(_ name: String, at folder: Int32, path: String, _ access: Int32) throws(StorageFailure) {
        self.path = path
        // Without O_NONBLOCK a pipe of this name would hold the thread for good.
        let opened = openat(folder, name, access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard opened >= 0 else {
            // There is none, or it is a link, a folder or a socket.
            if [ENOENT, ELOOP, EISDIR, ENXIO].contains(errno) { return nil }
            throw StorageFailure(action: "open", path: path, errno: errno)
        }
        var status = stat()
        guard fstat(opened, &status) == 0 else {
            let code = errno
            close(opened)
            throw StorageFailure(action: "open", path: path, errno: code)
        }
        let found = FileStatus(status)
        guard found.isRegular else {
            close(opened)
            return nil
        }
        descriptor = opened
        size = Int(found.size)
        number = found.number
        used = found.used
        links = Int(status.st_nlink)
    }

    deinit { close(descriptor) }

    /// Fills the buffer from the given place in the file. Fewer bytes, when the file ends there.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StorageFailure) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
            if count == 0 { break }
            if count > 0 { done += count } else if errno != EINTR { throw failure("read") }
        }
        return done
    }

    /// Writes over what is at the given place.
    func write(_ bytes: [UInt8], at offset: Int) throws(StorageFailure) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress! + done, bytes.count - done, off_t(offset + done)) }
            if count > 0 { done += count } else if count == 0 || errno != EINTR { throw failure("write") }
        }
    }

    /// Notes that the file was used, unless that was done lately. The clock is the file system's, which all who share it have in common; and
    /// where it cannot be written to, nothing is removed either.
    func noteUse(unlessWithin interval: Duration) {
        // A clock that is wrong, this one or the other, costs a call and no more.
        if age >= interval { futimens(descriptor, nil) }
    }

    /// Makes it a file of the cache's: for its owner alone, and used just now.
    func adopt() throws(StorageFailure) {
        guard fchmod(descriptor, 0o600) == 0, futimens(descriptor, nil) == 0 else { throw failure("take over") }
    }

    /// Whether nobody else has the file, which from now on is this object's; nil where the file system has no locks.
    func lock() -> Bool? {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        return errno == EWOULDBLOCK ? false : nil
    }

    /// How long ago the file was used, were the clocks right.
    var age: Duration {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return .nanoseconds((Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) &- used).magnitude)
    }

    private func failure(_ action: String) -> StorageFailure { StorageFailure(action: action, path: path, errno: errno) }
}
