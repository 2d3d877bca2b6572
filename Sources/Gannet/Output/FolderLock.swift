#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One run at a time in a folder. The lock is the kernel's: it goes with the process, however that ends.
package struct FolderLock: ~Copyable {
    private let descriptor: Int32

    /// `nil` when another process holds it.
    package init?(_ folder: BodyFolder) throws(BodyFolder.Failure) {
        let path = folder.path + "/.gannet-lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw BodyFolder.Failure(description: "The file \(path) cannot be written: \(String(cString: strerror(errno))).")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
    }

    deinit { close(descriptor) }
}
