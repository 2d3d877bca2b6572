#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The temporary file a body is written to. Unless `keep()` or `move` succeeds, the file is gone when this object is.
package final class BodyFile {
    package let path: String
    private var descriptor: Int32
    private var isKept = false
    /// Where `name` is looked for; nil is the working folder, and `name` the path.
    private let folder: OpenFolder?
    private let name: String

    /// What the names of such files begin with.
    package static let prefix = ".gannet-"

    /// Creates a new file in the folder, readable by its owner only; its name begins with `.gannet-` and is used by nobody else.
    package init(in folder: String) throws(StorageFailure) {
        path = "\(folder)\(folder.hasSuffix("/") ? "" : "/")\(Self.newName())"
        name = path
        self.folder = nil
        descriptor = Self.create(path, in: AT_FDCWD)
        guard descriptor >= 0 else {
            isKept = true
            throw StorageFailure(action: "create a file in", path: folder, errno: errno)
        }
    }

    /// The same in a folder that others clear of what the dead left: as long as the file is locked, it has a living writer.
    package init(lockedIn folder: OpenFolder) throws(StorageFailure) {
        name = Self.newName()
        path = "\(folder.path)/\(name)"
        self.folder = folder
        descriptor = Self.create(name, in: folder.descriptor)
        guard descriptor >= 0 else {
            isKept = true
            throw StorageFailure(action: "create a file in", path: folder.path, errno: errno)
        }
        // Where there are no locks, the file's age has to do. Whoever clears the folder may have had the lock, and removed the file, first.
        var status = stat()
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK, fstat(descriptor, &status) == 0, status.st_nlink > 0
        else { throw StorageFailure(action: "keep a file in", path: folder.path, errno: ENOENT) }
    }

    deinit {
        if !isKept { unlinkat(folder?.descriptor ?? AT_FDCWD, name, 0) }
        if descriptor >= 0 { close(descriptor) }
    }

    /// Appends all of the bytes.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(StorageFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest))
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count == 0 || errno != EINTR {
                throw StorageFailure(action: "write", path: path, errno: count == 0 ? EIO : errno)
            }
        }
    }

    /// Closes the file and leaves it to the caller, by its path.
    package func keep() throws(StorageFailure) -> String {
        let result = close(descriptor)
        let code = errno
        descriptor = -1
        // A network file system may report only now that there was no space. After EINTR the descriptor is closed all the same.
        guard result == 0 || code == EINTR else { throw StorageFailure(action: "write", path: path, errno: code) }
        isKept = true
        return path
    }

    /// Gives the file its place, in the stead of what may be there, when all who can see the place will see all of the bytes.
    package func move(to target: OpenFolder, as newName: String) throws(StorageFailure) {
        // Closing any descriptor of a file sends its bytes to a network file system's server, and brings the server's refusal. The lock goes
        // with the descriptor that is left, which is closed when the file is no longer to be cleared away.
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0, close(copy) == 0 || errno == EINTR else { throw StorageFailure(action: "write", path: path, errno: errno) }
        guard renameat(folder?.descriptor ?? AT_FDCWD, name, target.descriptor, newName) == 0 else {
            throw StorageFailure(action: "make", path: "\(target.path)/\(newName)", errno: errno)
        }
        isKept = true
    }

    private static func newName() -> String {
        var generator = SystemRandomNumberGenerator()
        return prefix + String(generator.next() as UInt64, radix: 36) + String(generator.next() as UInt64, radix: 36)
    }

    private static func create(_ name: String, in folder: Int32) -> Int32 {
        while true {
            let descriptor = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            if descriptor >= 0 || errno != EINTR { return descriptor }
        }
    }
}

/// The system's function, which inside the class its method's name would hide.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
