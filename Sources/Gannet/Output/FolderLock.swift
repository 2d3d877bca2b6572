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
        let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard opened >= 0 else {
            throw BodyFolder.Failure(description: "The file \(path) cannot be written: \(String(cString: strerror(errno))).")
        }
        if flock(opened, LOCK_EX | LOCK_NB) == 0 {
            descriptor = opened
            return
        }
        let code = errno
        close(opened)
        guard code == EWOULDBLOCK else {
            throw BodyFolder.Failure(description: "The file \(path) cannot be locked: \(String(cString: strerror(code))).")
        }
        return nil
    }

    deinit { close(descriptor) }
}
