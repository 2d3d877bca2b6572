#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The server's end of one connection to a `HostileServer`. Its owner closes the descriptor after `run`.
struct ScriptedConnection {
    let descriptor: Int32

    /// Told of all bytes that arrive.
    let record: @Sendable ([UInt8]) -> Void

    /// What has arrived and was not yet asked for by a step.
    private var unread: [UInt8] = []

    init(descriptor: Int32, record: @escaping @Sendable ([UInt8]) -> Void) {
        self.descriptor = descriptor
        self.record = record
    }

    /// Follows the script to its end, or until the peer has left.
    mutating func run(_ script: [HostileServer.Step]) {
        for step in script {
            guard take(step) else { return }
        }
    }

    /// Whether the script goes on.
    private mutating func take(_ step: HostileServer.Step) -> Bool {
        switch step {
        case .readUntil(let end):
            while true {
                if let range = unread.firstRange(of: end) {
                    unread.removeSubrange(..<range.upperBound)
                    return true
                }
                guard readMore() else { return false }
            }
        case .read(let count):
            while unread.count < count {
                guard readMore() else { return false }
            }
            unread.removeFirst(count)
            return true
        case .send(let bytes):
            return (try? Socket.sendAll(bytes, to: descriptor)) != nil
        case .close:
            return false
        case .reset:
            // Closing with no time to linger sends a reset; a Unix socket has none and just ends.
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
            return false
        case .silence:
            while readMore() { unread = [] }
            return false
        case .deafness:
            // No event is asked for, so only the end of the connection answers.
            var descriptor = pollfd(fd: descriptor, events: 0, revents: 0)
            while poll(&descriptor, 1, -1) < 0 && errno == EINTR {}
            return false
        }
    }

    private mutating func readMore() -> Bool {
        guard let bytes = try? Socket.receive(from: descriptor), !bytes.isEmpty else { return false }
        record(bytes)
        unread += bytes
        return true
    }
}
