/// A `flock` on a file of its own, given up when the last reference or the process goes. The file stays: a process that waits for a removed file's
/// lock would wait beside the others.
package final class FileLock: Sendable {
    package enum Mode: Sendable {
        case shared
        case exclusive
    }

    package let descriptor: Int32

    private init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Nil means that `errno` says why not: `EWOULDBLOCK` when somebody else still holds it at the end of the time.
    ///
    /// It asks again and again: a `flock` that waits cannot be given a bound, and its holder may be stopped.
    package static func take(_ path: String, _ mode: Mode, permissions: mode_t = 0o600, within bound: Duration = .zero) -> FileLock? {
        let end = ContinuousClock.now + bound
        while true {
            if let lock = takeOnce(path, mode, permissions) { return lock }
            guard errno == EWOULDBLOCK, ContinuousClock.now < end else { return nil }
            usleep(1000)
        }
    }

    private static func takeOnce(_ path: String, _ mode: Mode, _ permissions: mode_t) -> FileLock? {
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, permissions)
        guard descriptor >= 0 else { return nil }
        while flock(descriptor, (mode == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(descriptor)
            errno = code
            return nil
        }
        return FileLock(descriptor: descriptor)
    }

    /// Gives the lock up now.
    package func release() { flock(descriptor, LOCK_UN) }
}
