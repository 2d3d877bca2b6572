internal import GannetBase
import Synchronization

/// The temporary file a body is written to. Unless `keep()` or `move` succeeds, the file is removed with this object.
package final class BodyFile {
    package let path: String
    private var descriptor: Int32
    private var isKept = false
    /// The folder of `name`; nil is the working folder, and then `name` is the path.
    private let folder: OpenFolder?
    private let name: String

    /// The beginning of such files' names.
    package static let prefix = ".gannet-"

    /// The permissions of a new file.
    package enum Permissions: UInt16, Sendable {
        case ownerOnly = 0o600
        /// The permissions of any other new file, as the user's umask or the folder's own rule decides them.
        case ordinary = 0o666
    }

    /// Creates a new file in the folder. Its name begins with `.gannet-` and is unique.
    package init(in folder: String, _ permissions: Permissions = .ownerOnly) throws(StorageFailure) {
        path = "\(folder)\(folder.hasSuffix("/") ? "" : "/")\(Self.newName())"
        name = path
        self.folder = nil
        descriptor = Self.create(path, in: AT_FDCWD, permissions)
        guard descriptor >= 0 else {
            isKept = true
            throw StorageFailure(action: "create a file in", path: folder, errno: errno)
        }
    }

    /// The same, readable by its owner only, in a folder where other processes remove the files of dead writers: a locked file has a living writer.
    package init(lockedIn folder: OpenFolder) throws(StorageFailure) {
        name = Self.newName()
        path = "\(folder.path)/\(name)"
        self.folder = folder
        descriptor = Self.create(name, in: folder.descriptor, .ownerOnly)
        guard descriptor >= 0 else {
            isKept = true
            throw StorageFailure(action: "create a file in", path: folder.path, errno: errno)
        }
        // Where there are no locks, the file's age must do. A process that clears the folder may have locked and removed the file first.
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

    /// Appends all of the bytes.
    package func write(_ bytes: [UInt8]) throws(StorageFailure) {
        var failure: StorageFailure?
        bytes.withUnsafeBytes { bytes in
            do throws(StorageFailure) { try write(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
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

    /// Moves the file to its place, and replaces a file that is there. A reader of the place sees all of the bytes.
    package func move(to target: OpenFolder, as newName: String) throws(StorageFailure) {
        // Closing any descriptor of a file sends its bytes to a network file system's server, and reports the server's refusal. The lock goes
        // with the last descriptor, which stays open until the file has its place.
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0, close(copy) == 0 || errno == EINTR else { throw StorageFailure(action: "write", path: path, errno: errno) }
        guard renameat(folder?.descriptor ?? AT_FDCWD, name, target.descriptor, newName) == 0 else {
            throw StorageFailure(action: "make", path: "\(target.path)/\(newName)", errno: errno)
        }
        isKept = true
    }

    /// A number that no other process has, and a count. Random bits for each file would be a call of the system.
    private static func newName() -> String { own + String(lastNumber.add(1, ordering: .relaxed).newValue, radix: 36) }

    private static let own: String = {
        var generator = SystemRandomNumberGenerator()
        return prefix + String(generator.next() as UInt64, radix: 36) + String(generator.next() as UInt64, radix: 36) + "-"
    }()
    private static let lastNumber = Atomic<UInt64>(0)

    private static func create(_ name: String, in folder: Int32, _ permissions: Permissions) -> Int32 {
        while true {
            let descriptor = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(permissions.rawValue))
            if descriptor >= 0 || errno != EINTR { return descriptor }
        }
    }
}

/// The system's function, which inside the class its method's name would hide.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

/// An open folder. Names are looked up in this very folder, even when its path has come to mean another. A symbolic link in it is never
/// followed.
package final class OpenFolder: Sendable {
    /// Closed with this object.
    package let descriptor: Int32
    /// The path when it was opened, for messages.
    package let path: String

    private static let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC

    /// The folder at a path that the user chose, symbolic links on the way included.
    /// - Parameter followingLink: Whether the path itself may be a symbolic link too.
    package init(_ path: String, followingLink: Bool = true) throws(StorageFailure) {
        self.path = path
        descriptor = open(path, Self.flags | (followingLink ? 0 : O_NOFOLLOW))
        guard descriptor >= 0 else { throw StorageFailure(action: "open the folder", path: path, errno: errno) }
    }

    /// The folder of this name in another.
    /// - Parameter creating: Makes it, for its owner alone, where it is missing.
    package init(_ name: String, in parent: OpenFolder, creating: Bool = false) throws(StorageFailure) {
        path = "\(parent.path)/\(name)"
        var opened = openat(parent.descriptor, name, Self.flags | O_NOFOLLOW)
        if opened < 0, errno == ENOENT, creating {
            guard mkdirat(parent.descriptor, name, 0o700) == 0 || errno == EEXIST else {
                throw StorageFailure(action: "make the folder", path: path, errno: errno)
            }
            opened = openat(parent.descriptor, name, Self.flags | O_NOFOLLOW)
        }
        descriptor = opened
        guard descriptor >= 0 else { throw StorageFailure(action: "open the folder", path: path, errno: errno) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}
