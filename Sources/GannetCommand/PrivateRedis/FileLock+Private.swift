import GannetBase

extension FileLock {
    /// Nil when someone else still holds it at the end of the time.
    static func tryToTake(_ path: String, _ mode: Mode, within bound: Duration = .zero) throws(CommandFailure) -> FileLock? {
        if let lock = take(path, mode, within: bound) { return lock }
        if errno == EWOULDBLOCK { return nil }
        throw CommandFailure(.cannotWrite, "The lock file '\(path)' cannot be opened: \(Descriptor.message(errno)).")
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
