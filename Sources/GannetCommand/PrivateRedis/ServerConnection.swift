import GannetBase

/// The little of the Redis protocol that starting and stopping a server takes: PING and SHUTDOWN as lines, the first line of the answer.
/// The supervisor must not depend on the client that it may have to be restarted for.
final class ServerConnection {
    enum State: Equatable {
        case ready
        /// It reads its data back; it answers, but not yet to everything.
        case loading
        /// Something accepted the connection and says nothing.
        case silent
        case gone
    }

    let descriptor: Int32

    private init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Nil when nobody listens there.
    static func open(_ path: String, within bound: Duration) -> ServerConnection? {
        guard let address = SocketAddress(unixPath: path), let descriptor = address.makeSocket() else { return nil }
        let connection = ServerConnection(descriptor: descriptor)
        let end = ContinuousClock.now + bound
        while true {
            if address.withPointer({ connect(descriptor, $0, $1) }) == 0 { return connection }
            // A full backlog, of a server that is busy or stopped.
            guard errno == EAGAIN || errno == EINTR, ContinuousClock.now < end else { return nil }
            usleep(10_000)
        }
    }

    /// How the server at `path` is, asked once.
    static func state(of path: String, within bound: Duration = .seconds(5)) -> State {
        open(path, within: bound)?.ping(within: bound) ?? .gone
    }

    func ping(within bound: Duration) -> State {
        guard let answer = ask("PING", within: bound) else { return .gone }
        if answer.isEmpty { return .silent }
        return answer.hasPrefix("-LOADING") ? .loading : .ready
    }

    /// Asks for an orderly end: the append-only file is flushed, no snapshot is written. Nil when the server has ended, otherwise why it has not.
    func shutDown(within bound: Duration) -> String? {
        guard let answer = ask("SHUTDOWN NOSAVE", within: bound) else { return nil }
        return answer.isEmpty ? "it did not answer within \(bound.components.seconds) seconds" : answer
    }

    /// Waits for the server's end of the connection to close.
    func hasClosed(within bound: Duration) -> Bool {
        let end = ContinuousClock.now + bound
        while let wait = Self.milliseconds(until: end) {
            guard Descriptor.wait(for: Int16(POLLIN), on: descriptor, milliseconds: wait) else { return false }
            if Self.read(descriptor) == nil { return true }
        }
        return false
    }

    /// The answer's first line; empty when none came in time, nil when the connection closed.
    func ask(_ command: String, within bound: Duration) -> String? {
        guard Descriptor.writeAll(command + "\r\n", to: descriptor) == nil else { return nil }
        let end = ContinuousClock.now + bound
        var answer: [UInt8] = []
        while let wait = Self.milliseconds(until: end), Descriptor.wait(for: Int16(POLLIN), on: descriptor, milliseconds: wait) {
            guard let bytes = Self.read(descriptor) else { return nil }
            answer += bytes
            if let line = answer.firstIndex(of: 0x0D) { return String(decoding: answer[..<line], as: UTF8.self) }
            if answer.count > 4096 { return "it does not speak the Redis protocol" }
        }
        return ""
    }

    private static func milliseconds(until end: ContinuousClock.Instant) -> Int32? {
        let left = end - .now
        guard left > .zero else { return nil }
        return Int32(clamping: left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1)
    }

    /// Nil at the end of the stream; empty when there is nothing just now.
    private static func read(_ descriptor: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = GannetBase.read(descriptor, &buffer, buffer.count)
        if count > 0 { return Array(buffer[..<count]) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? [] : nil
    }
}
