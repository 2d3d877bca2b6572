#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A folder that is open. What is looked for in it is looked for there, whatever its path has come to mean; a symbolic link in it is
/// never followed.
package final class OpenFolder: Sendable {
    /// Closed with this object.
    package let descriptor: Int32
    /// Where it was found, for people to read.
    package let path: String

    private static let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC

    /// The folder at a path that the user chose, symbolic links on the way included.
    package init(_ path: String) throws(StorageFailure) {
        self.path = path
        descriptor = open(path, Self.flags)
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
