#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What the machine or this process has run out of, which is no URL's fault.
enum SystemLimit {
    static let advice = "raise 'ulimit -n', or make fewer requests at once"

    /// Whether a system call failed for want of a file descriptor.
    static func isShortage(_ code: Int32) -> Bool { code == EMFILE || code == ENFILE }

    /// Whether no descriptor is to be had right now: a resolver, or the reader of a certificate file, does not say what it lacked.
    static var lacksDescriptors: Bool {
        let one = open("/dev/null", O_RDONLY | O_CLOEXEC)
        if one >= 0 {
            close(one)
            return false
        }
        return isShortage(errno)
    }

    static func sentence(_ code: Int32) -> String { "\(String(cString: strerror(code))); \(advice)" }
}
