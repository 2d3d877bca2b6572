#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What the system refused about a body's file.
struct StorageFailure: Error, Hashable, CustomStringConvertible {
    let action: String
    let path: String
    let errno: Int32

    var kind: FetchError.Kind { SystemLimit.isShortage(errno) ? .systemLimit : .storage }

    var description: String {
        let reason = SystemLimit.isShortage(errno) ? SystemLimit.sentence(errno) : String(cString: strerror(errno))
        return "cannot \(action) \(path): \(reason)"
    }
}
