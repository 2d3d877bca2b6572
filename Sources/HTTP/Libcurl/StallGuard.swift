internal import GannetBase
import Synchronization

/// Ends a connection that keeps libcurl busy within a single call.
///
/// libcurl reads an HTTP/2 connection for as long as there is something to read, without a look at its clock. An origin may send useless
/// frames for ever, and no other transfer would get a turn.
///
/// So a second thread looks once a second whether the engine's thread is still in the same call. If so, it finds the connections that are
/// being read meanwhile and shuts them down, which libcurl takes for their end. (Linux only.)
final class StallGuard {
    /// The state of both threads.
    private final class Shared: Sendable {
        /// The number of the call that is under way; 0 between calls.
        let call = Atomic<UInt64>(0)
        let sockets = GannetBase.Mutex<Set<Int32>>([])
    }

    private let shared = Shared()
    private let end: Wakeup
    private let thread: OwnedThread

    private static let look: Int32 = 1000

    /// Nil when the process has no descriptor or no thread left.
    init?() {
        guard let end = Wakeup() else { return nil }
        self.end = end
        guard let thread = OwnedThread(name: "http-guard", { [shared] in Self.watch(shared, end) }) else { return nil }
        self.thread = thread
    }

    /// Runs `body`, a call of libcurl's. For the engine's thread alone.
    func watching(call number: UInt64, _ body: () -> Void) {
        shared.call.store(number, ordering: .relaxed)
        body()
        shared.call.store(0, ordering: .relaxed)
    }

    func opened(_ socket: Int32) { shared.sockets.withLock { _ = $0.insert(socket) } }

    func closed(_ socket: Int32) { shared.sockets.withLock { _ = $0.remove(socket) } }

    /// Ends the thread; to be called once.
    func stop() {
        end.signal()
        thread.join()
    }

    private static func watch(_ shared: Shared, _ end: Wakeup) {
        var last: UInt64 = 0
        var before: [Int32: UInt64] = [:]
        while true {
            var descriptor = pollfd(fd: end.readDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, look) == 0 else { return }
            let now = shared.call.load(ordering: .relaxed)
            if now == 0 || now != last {
                before = [:]
            } else {
                // Under the lock no socket is closed, so no number is another's.
                before = shared.sockets.withLock { sockets in
                    var counts: [Int32: UInt64] = [:]
                    for socket in sockets {
                        guard let count = bytesRead(from: socket) else { continue }
                        if let earlier = before[socket], count > earlier { _ = shutdown(socket, Int32(SHUT_RDWR)) }
                        counts[socket] = count
                    }
                    return counts
                }
            }
            last = now
        }
    }

    /// How many bytes this process has taken off a TCP connection so far.
    static func bytesRead(from socket: Int32) -> UInt64? {
        // The kernel's `tcp_info`, of which the C library's header knows only the first half: tcpi_bytes_received is the 17th word.
        var words = [UInt64](repeating: 0, count: 17)
        var length = socklen_t(words.count * 8)
        var unread: Int32 = 0
        guard getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &words, &length) == 0, length == words.count * 8,
            ioctl(socket, UInt(FIONREAD), &unread) == 0
        else { return nil }
        return words[16] &- UInt64(unread)
    }
}
