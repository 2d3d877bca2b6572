#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What the system refused about a file or a folder.
package struct StorageFailure: Error, Hashable, CustomStringConvertible {
    package let action: String
    package let path: String
    package let errno: Int32

    package init(action: String, path: String, errno: Int32) {
        self.action = action
        self.path = path
        self.errno = errno
    }

    var kind: FetchError.Kind { SystemLimit.isShortage(errno) ? .systemLimit : .storage }

    package var description: String {
        let reason = SystemLimit.isShortage(errno) ? SystemLimit.sentence(errno) : String(cString: strerror(errno))
        return "cannot \(action) \(path): \(reason)"
    }
}
