internal import GannetBase
internal import GannetHTTP

/// An open regular file of a folder. It keeps its content when it is replaced or removed meanwhile.
struct FoundFile: ~Copyable {
    private let descriptor: Int32
    /// As it was when the file was opened.
    let status: FileStatus
    private let path: String

    var size: Int { Int(status.size) }

    /// Nil when there is no regular file of this name.
    init?(_ name: String, in folder: OpenFolder, forWriting: Bool = false) throws {
        path = "\(folder.path)/\(name)"
        // Without O_NONBLOCK a pipe of this name would hold the thread for good.
        let opened = openat(folder.descriptor, name, (forWriting ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard opened >= 0 else {
            // There is no file, or it is a link, a folder or a socket.
            if [ENOENT, ELOOP, EISDIR, ENXIO].contains(errno) { return nil }
            throw StorageFailure(action: "open", path: path, errno: errno)
        }
        var metadata = stat()
        guard fstat(opened, &metadata) == 0 else {
            let code = errno
            close(opened)
            throw StorageFailure(action: "open", path: path, errno: code)
        }
        let found = FileStatus(metadata)
        guard found.isRegular else {
            close(opened)
            return nil
        }
        descriptor = opened
        status = found
    }

    deinit { close(descriptor) }

    /// Notes that the file was used, once a minute at most. The clock is the file system's, which all processes have in common. On a read-only
    /// file system nothing is noted, and nothing is removed either.
    func noteUse() {
        // A wrong clock costs a needless call, and nothing else.
        if age >= .seconds(60) { futimens(descriptor, nil) }
    }

    /// Whether this object has locked the file, and no other process had; nil where the file system has no locks.
    func lock() -> Bool? {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        return errno == EWOULDBLOCK ? false : nil
    }

    /// How long ago the file was used, if the clocks agree.
    var age: Duration {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return .nanoseconds((Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) &- status.used).magnitude)
    }

    /// Nil when the file ends before `count` bytes.
    func bytes(_ count: Int, at offset: Int) throws -> [UInt8]? {
        let bytes = try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            guard let read = Descriptor.read(into: UnsafeMutableRawBufferPointer(buffer), from: descriptor, at: offset) else {
                throw StorageFailure(action: "read", path: path, errno: errno)
            }
            done = read
        }
        return bytes.count == count ? bytes : nil
    }
}

/// The metadata of a file in its file system.
struct FileStatus: Sendable, Hashable {
    let size: Int64
    /// Nanoseconds since 1970. It is the time of the last change, which this cache sets with each use. The time of the last access is of no
    /// use: other readers change it, and many file systems do not keep it.
    let used: Int64
    let device: UInt64
    /// The number of the file in its file system.
    let number: UInt64
    let isRegular: Bool

    /// The part of a folder's limit that the file takes.
    var cost: Int64 { Self.cost(ofSize: size) }

    /// A planted file may be a hole of any size, so the size counts up to a bound.
    static func cost(ofSize size: Int64) -> Int64 { (min(max(0, size), 64 << 30) + 4095) / 4096 * 4096 + 512 }

    init(_ status: stat) {
        size = Int64(status.st_size)
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(status.st_ino)
        isRegular = status.st_mode & S_IFMT == S_IFREG
        let time = status.modification
        used = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// For the name in the folder, even of a symbolic link; nil when there is nothing.
    init?(_ name: String, in folder: OpenFolder) throws {
        var status = stat()
        guard fstatat(folder.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw StorageFailure(action: "look at", path: "\(folder.path)/\(name)", errno: errno)
        }
        self.init(status)
    }
}

extension OpenFolder {
    /// Calls `body` with one name after the other: there may be millions.
    func forEachName(_ body: (String) -> Void) throws {
        // Reading moves the position of a descriptor, so this uses one of its own.
        let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0, let stream = fdopendir(own) else {
            let code = errno
            if own >= 0 { close(own) }
            throw StorageFailure(action: "list", path: path, errno: code)
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) { String(cString: $0) }
            }
            if name != ".", name != ".." { body(name) }
        }
        guard errno == 0 else { throw StorageFailure(action: "list", path: path, errno: errno) }
    }

    /// Removes a file; false when there is none of the name.
    @discardableResult
    func removeFile(_ name: String) throws -> Bool {
        if unlinkat(descriptor, name, 0) == 0 { return true }
        if errno == ENOENT { return false }
        throw StorageFailure(action: "remove", path: "\(path)/\(name)", errno: errno)
    }

    /// Makes a folder and its missing parents, for their owner alone.
    static func make(_ path: String) throws {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        let code = errno
        guard code == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw StorageFailure(action: "make the folder", path: path, errno: code)
        }
        try make(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw StorageFailure(action: "make the folder", path: path, errno: errno)
        }
    }
}

extension StorageFailure {
    /// The file or folder is not there: it never was, or it was removed.
    var isAbsence: Bool {
        guard case .system(let errno) = reason else { return false }
        return errno == ENOENT || errno == ESTALE
    }
}
