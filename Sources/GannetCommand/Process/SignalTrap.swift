import GannetBasics
import Synchronization

/// SIGINT, SIGTERM and SIGHUP as a stream, for a command that ends in order: the first asks it to drain, a second to leave.
///
/// One trap a process, kept until it ends. Until it is installed the signals end the process as usual.
final class SignalTrap: Sendable {
    enum Request: Sendable, Equatable {
        case interrupt
        case terminate

        /// What the process exits with when it leaves before it was done.
        var status: ExitStatus { self == .interrupt ? .interrupted : .terminated }
    }

    let requests: AsyncStream<Request>

    /// Whoever asks for the third time gets the process out of the way, whatever it hangs in: a pipe that nobody reads, a disk that is gone.
    private static let signalsToLeave = 3
    private static let graceAtLast: UInt32 = 2

    private static func leaveSoon(_ status: ExitStatus) {
        OwnedThread.start(name: "gannet-leave") {
            sleep(graceAtLast)
            _exit(status.rawValue)
        }
    }

    /// - Parameter leavesAtLast: Not in a process that is not ours to end.
    init(leavesAtLast: Bool = true) throws(CommandFailure) {
        guard let ends = Descriptor.pipe() else {
            throw CommandFailure(.unavailable, "Cannot watch for signals: \(Descriptor.message(errno)).")
        }
        _ = fcntl(ends.write, F_SETFL, O_NONBLOCK)
        let (stream, continuation) = AsyncStream.makeStream(of: Request.self, bufferingPolicy: .bufferingOldest(8))
        OwnedThread.start(name: "gannet-signals") {
            var byte: UInt8 = 0
            var signals = 0
            while true {
                let count = read(ends.read, &byte, 1)
                if count == 1 {
                    let request = Int32(byte) == SIGINT ? Request.interrupt : .terminate
                    continuation.yield(request)
                    signals += 1
                    if leavesAtLast, signals == Self.signalsToLeave { Self.leaveSoon(request.status) }
                } else if count == 0 || errno != EINTR {
                    return continuation.finish()
                }
            }
        }
        requests = stream
        handOver.store(ends.write, ordering: .sequentiallyConsistent)
        for number in [SIGINT, SIGTERM] { signal(number, noteSignal) }
        // The terminal is gone. Whoever asked beforehand not to be told of that (`nohup`) is not.
        let before = signal(SIGHUP, noteSignal)
        if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(SIGHUP, SIG_IGN) }
    }
}

/// Where the handler writes; set before the handler is, so that the handler never initialises anything.
private let handOver = Atomic<Int32>(-1)

/// Only async-signal-safe calls: one write, with errno as it was found. A full pipe loses a signal that eight others have
/// announced already.
private func noteSignal(_ number: Int32) {
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(handOver.load(ordering: .relaxed), &byte, 1)
    errno = before
}
