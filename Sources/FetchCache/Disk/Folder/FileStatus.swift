internal import HTTPEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What the file system says of a file.
struct FileStatus: Sendable, Hashable {
    let size: Int64
    /// Nanoseconds since 1970. The time of the last change, which this cache sets with each use: that of the last access is changed by
    /// whoever reads a file, and on many file systems by nobody.
    let used: Int64
    /// Which file of its file system.
    let number: UInt64
    let isRegular: Bool

    init(_ status: stat) {
        size = Int64(status.st_size)
        number = UInt64(status.st_ino)
        isRegular = status.st_mode & S_IFMT == S_IFREG
        #if canImport(Glibc)
        let time = status.st_mtim
        #else
        let time = status.st_mtimespec
        #endif
        used = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// Of what has this name in the folder, be it a symbolic link. Nil when there is nothing.
    init?(_ name: String, in folder: OpenFolder) throws(StorageFailure) {
        var status = stat()
        guard fstatat(folder.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw StorageFailure(action: "look at", path: "\(folder.path)/\(name)", errno: errno)
        }
        self.init(status)
    }
}
