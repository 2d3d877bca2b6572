internal import GannetBase

/// The named pipe in the folder of a run, through which other processes ask that run to end now.
///
/// The kernel closes the run's end together with its process. So a pipe that a killed run has left is told from one with a reader, and an asker
/// sees when the run has ended. A request takes no room on the disk, and only the run's own user and root may send one.
package final class FinishPipe: Sendable {
    static let name = "finish"

    private let path: String
    /// -1 where the folder's disk has no named pipes. Such a run hears no request.
    private let descriptor: Int32
    private let wasAsked = SharedFlag()
    /// Whether it takes the place of a pipe, which a run has left that was killed.
    package let followsKill: Bool

    /// Between two looks for a request.
    private static let pause = Duration.milliseconds(500)

    /// Replaces the pipe of a run that was killed. The caller holds the folder's lock alone.
    init(in folder: BodyFolder) {
        path = Self.path(in: folder.path)
        guard (try? folder.ownFolder(RecordedFolder.name)) != nil else {
            (descriptor, followsKill) = (-1, false)
            return
        }
        followsKill = unlink(path) == 0
        guard mkfifo(path, 0o600) == 0 else {
            descriptor = -1
            return
        }
        // With an end for writing of its own, the pipe does not look closed when an asker leaves.
        descriptor = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
    }

    static func path(in folder: String) -> String { "\(folder)/\(RecordedFolder.name)/\(name)" }

    /// Whether a request has come. A request counts for as long as the run lives.
    package var isAsked: Bool {
        var byte: UInt8 = 0
        if !wasAsked.isSet, descriptor >= 0, read(descriptor, &byte, 1) == 1 { wasAsked.set() }
        return wasAsked.isSet
    }

    /// Returns when a request has come.
    package func asked() async throws {
        while !isAsked { try await Task.sleep(for: Self.pause) }
    }

    /// Takes the pipe out of the folder, so that programs which copy the folder meet none. Its askers still wait for the run's end.
    func remove() { if descriptor >= 0 { unlink(path) } }

    deinit { if descriptor >= 0 { close(descriptor) } }
}

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
