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

    var description: String { "cannot \(action) \(path): \(String(cString: strerror(errno)))" }
}
