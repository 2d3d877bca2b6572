import Synchronization
internal import Threads

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Ends a connection that keeps libcurl busy within a single call.
///
/// libcurl reads an HTTP/2 connection for as long as there is something to read, without a look at its clock, and an origin may send frames
/// that come to nothing for ever. Nobody else would get a turn. So a second thread looks once a second whether the engine's is still in the
/// same call, and then shuts the connection's socket down, which libcurl takes for its end.
final class StallGuard: Sendable {
    /// The number of the call in the upper half, its descriptor in the lower; 0 between calls.
    private let call = Call()
    private let end: Wakeup
    private let thread: Threads.Mutex<OwnedThread?>

    private static let look: Int32 = 1000

    /// Nil when the process has no descriptor or no thread left.
    init?() {
        guard let end = Wakeup() else { return nil }
        self.end = end
        guard let started = OwnedThread(name: "http-guard", { [call] in Self.watch(call, end) }) else { return nil }
        thread = Threads.Mutex(started)
    }

    /// Runs `body`, a call of libcurl's about the descriptor. For the engine's thread alone.
    func watching(_ descriptor: Int32, number: UInt32, _ body: () -> Void) {
        call.state.store(UInt64(number | 1) << 32 | UInt64(UInt32(bitPattern: descriptor)), ordering: .relaxed)
        body()
        call.state.store(0, ordering: .relaxed)
    }

    func stop() {
        end.signal()
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        running?.join()
    }

    private final class Call: Sendable {
        let state = Atomic<UInt64>(0)
    }

    private static func watch(_ call: Call, _ end: Wakeup) {
        var last: UInt64 = 0
        while true {
            var descriptor = pollfd(fd: end.readDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, look) == 0 else { return }
            let now = call.state.load(ordering: .relaxed)
            if now != 0, now == last { _ = shutdown(Int32(bitPattern: UInt32(truncatingIfNeeded: now)), Int32(SHUT_RDWR)) }
            last = now
        }
    }
}
