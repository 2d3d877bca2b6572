internal import GannetBase

/// A request to the run that works in a folder: to end now.
package struct FinishRequest: ~Copyable {
    package enum Refusal: Error, Sendable {
        /// No run works in the folder.
        case noRun
        /// The run belongs to another user.
        case otherUser
        /// The run works on another machine, or has no pipe.
        case unreachable
    }

    private let descriptor: Int32

    package init(to folder: BodyFolder) throws(Refusal) {
        // A pipe that nobody reads is not opened.
        let opened = open(FinishPipe.path(in: folder.path), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        let isForbidden = opened < 0 && errno == EACCES
        if opened >= 0 {
            // A full pipe has requests enough.
            if Self.isPipe(opened), write(opened, "f", 1) == 1 || errno == EAGAIN {
                descriptor = opened
                return
            }
            close(opened)
        }
        guard FolderLock.isHeldByRun(in: folder) else { throw .noRun }
        throw isForbidden ? .otherUser : .unreachable
    }

    /// Whether the run has ended, and its folder is free for the next one.
    package var hasEnded: Bool { Descriptor.wait(for: 0, on: descriptor, milliseconds: 0) }

    private static func isPipe(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    deinit { close(descriptor) }
}
