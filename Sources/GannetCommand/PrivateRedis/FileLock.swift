import GannetBase

/// A `flock` on a file of its own, given up when the last reference or the process goes.
final class FileLock: Sendable {
    enum Mode: Sendable {
        case shared
        case exclusive

        fileprivate var operation: Int32 { self == .shared ? LOCK_SH : LOCK_EX }
    }

    let descriptor: Int32

    private init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Nil when someone else holds it.
    static func tryToTake(_ path: String, _ mode: Mode) throws(CommandFailure) -> FileLock? {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(.cannotWrite, "The lock file '\(path)' cannot be opened: \(Descriptor.message(errno)).")
        }
        while flock(descriptor, mode.operation | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(descriptor)
            if code == EWOULDBLOCK { return nil }
            throw CommandFailure(.unavailable, "The file '\(path)' cannot be locked: \(Descriptor.message(code)).")
        }
        return FileLock(descriptor: descriptor)
    }

    /// Waits for its turn, but not for ever: nil when the time ran out. Asked for again and again, since a `flock` that waits
    /// cannot be given a bound.
    static func take(_ path: String, _ mode: Mode, within bound: Duration) throws(CommandFailure) -> FileLock? {
        let end = ContinuousClock.now + bound
        while true {
            if let lock = try tryToTake(path, mode) { return lock }
            guard ContinuousClock.now < end else { return nil }
            usleep(10_000)
        }
    }

    /// Leaves a trace that the lock was held, for whoever looks too seldom to see it.
    func touch() {
        _ = futimens(descriptor, nil)
    }

    /// Whether the file has been removed since, and with it the folder's purpose.
    var isOrphaned: Bool {
        var found = stat()
        return fstat(descriptor, &found) == 0 && found.st_nlink == 0
    }

    /// When it was last touched, as something to compare and nothing more: the wall clock may jump.
    static func mark(of path: String) -> Mark? {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        return Mark(seconds: Int(found.modification.tv_sec), nanoseconds: Int(found.modification.tv_nsec))
    }

    struct Mark: Sendable, Equatable {
        let seconds: Int
        let nanoseconds: Int
    }
}
