import GannetBasics
import Synchronization

/// SIGTERM as something to poll for, beside a connection: the supervisor has one thread and no tasks.
struct TerminationPipe {
    enum Wake: Equatable {
        case terminated
        case descriptor
        case time
    }

    private let read: Int32

    init() throws(CommandFailure) {
        guard let ends = Descriptor.pipe() else {
            throw CommandFailure(.unavailable, "Cannot open a pipe: \(Descriptor.message(errno)).")
        }
        for end in [ends.read, ends.write] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        read = ends.read
        handOver.store(ends.write, ordering: .sequentiallyConsistent)
        signal(SIGTERM) { _ in
            let before = errno
            var byte: UInt8 = 1
            _ = write(handOver.load(ordering: .relaxed), &byte, 1)
            errno = before
        }
    }

    func wait(orFor descriptor: Int32, atMost bound: Duration) -> Wake {
        var both = [pollfd(fd: read, events: Int16(POLLIN), revents: 0), pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        let parts = bound.components
        _ = poll(&both, 2, Int32(clamping: parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000))
        if both[0].revents != 0 {
            var byte: UInt8 = 0
            while GannetBasics.read(read, &byte, 1) == 1 {}
            return .terminated
        }
        return both[1].revents != 0 ? .descriptor : .time
    }
}

/// Set before the handler is, so that the handler never initialises anything.
private let handOver = Atomic<Int32>(-1)
