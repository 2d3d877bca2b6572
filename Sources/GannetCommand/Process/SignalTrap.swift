import GannetBase

/// SIGINT, SIGTERM and SIGHUP as a stream, for a command that ends in order: the first asks it to drain, a second to leave.
///
/// One trap a process, kept until it ends. Until it is installed the signals end the process as usual.
enum SignalTrap {
    /// The third signal ends the process even if it hangs: in a pipe that nobody reads, or on a disk that is gone.
    private static let signalsToLeave = 3
    private static let graceAtLast: UInt32 = 2

    private static func leaveSoon(_ status: ExitStatus) {
        OwnedThread.start(name: "gannet-leave") {
            sleep(graceAtLast)
            SingleKeys.end()
            _exit(status.rawValue)
        }
    }

    /// The pipe of signals that come before a command has made its trap.
    private static let early = Mutex<(read: Int32, write: Int32)?>(nil)

    /// Keeps signals for the trap that a command will make, from the first moment of the process on. Only for commands that make one.
    static func keepSignals() {
        guard let ends = Descriptor.pipe() else { return }
        early.withLock { $0 = (ends.read, ends.write) }
        watch(ends.write)
    }

    private static func watch(_ end: Int32) {
        Signals.forward([SIGINT, SIGTERM], to: end)
        Signals.forwardHangup(to: end)
    }

    /// The signals, each as the exit status of a process that leaves before it is done.
    /// - Parameter leavesAtLast: Not in a process that is not ours to end.
    static func requests(leavesAtLast: Bool = true) throws(CommandFailure) -> AsyncStream<ExitStatus> {
        let kept = early.withLock { early in
            defer { early = nil }
            return early
        }
        guard let ends = kept ?? Descriptor.pipe().map({ ($0.read, $0.write) }) else {
            throw CommandFailure(.unavailable, "Cannot watch for signals: \(Descriptor.message(errno)).")
        }
        let (stream, continuation) = AsyncStream.makeStream(of: ExitStatus.self, bufferingPolicy: .bufferingOldest(8))
        OwnedThread.start(name: "gannet-signals") {
            var byte: UInt8 = 0
            var signals = 0
            while true {
                let count = read(ends.read, &byte, 1)
                if count == 1 {
                    let request = Int32(byte) == SIGINT ? ExitStatus.interrupted : .terminated
                    continuation.yield(request)
                    signals += 1
                    if leavesAtLast, signals == signalsToLeave { leaveSoon(request) }
                } else if count == 0 || errno != EINTR {
                    return continuation.finish()
                }
            }
        }
        if kept == nil { watch(ends.write) }
        return stream
    }
}
