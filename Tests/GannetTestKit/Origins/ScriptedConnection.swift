internal import GannetBase

/// The server's end of one connection that follows scripts. Its owner closes the descriptor afterwards.
struct ScriptedConnection {
    let stream: any ByteStream

    /// Told of all bytes that arrive.
    let record: @Sendable ([UInt8]) -> Void

    /// Bytes that have arrived and that no step has asked for yet.
    private var unread: [UInt8] = []

    init(_ stream: any ByteStream, record: @escaping @Sendable ([UInt8]) -> Void) {
        self.stream = stream
        self.record = record
    }

    /// Follows the script to its end, which is true, or until the connection has ended.
    @discardableResult
    mutating func run(_ script: [HostileServer.Step]) -> Bool {
        script.allSatisfy { take($0) }
    }

    /// Reads up to and with these bytes; nil when the connection ends before, or has sent more than the limit.
    mutating func read(until end: [UInt8], atMost limit: Int = .max) -> [UInt8]? {
        while true {
            if let range = unread.firstRange(of: end) {
                defer { unread.removeSubrange(..<range.upperBound) }
                return Array(unread[..<range.upperBound])
            }
            guard unread.count < limit, readMore() else { return nil }
        }
    }

    /// Whether the script goes on.
    private mutating func take(_ step: HostileServer.Step) -> Bool {
        switch step {
        case .readUntil(let end):
            return read(until: end) != nil
        case .read(let count):
            while unread.count < count {
                guard readMore() else { return false }
            }
            unread.removeFirst(count)
            return true
        case .send(let bytes):
            return (try? stream.sendAll(bytes)) != nil
        case .sendAgain(let bytes, let times, let interval):
            for _ in 0..<times {
                guard (try? stream.sendAll(bytes)) != nil, interval == .zero || pause(interval) else { return false }
            }
            return true
        case .pause(let duration):
            return pause(duration)
        case .wait(let gate):
            gate.wait()
            return true
        case .close:
            stream.finish()
            return false
        case .halfClose:
            shutdown(stream.descriptor, Int32(SHUT_WR))
            while readMore() { unread = [] }
            return false
        case .reset:
            // Closing with no time to linger sends a reset; a Unix socket has none and just ends.
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(stream.descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
            return false
        case .silence:
            while readMore() { unread = [] }
            return false
        case .deafness:
            // No event is asked for, so only the end of the connection answers.
            var descriptor = pollfd(fd: stream.descriptor, events: 0, revents: 0)
            while poll(&descriptor, 1, -1) < 0 && errno == EINTR {}
            return false
        }
    }

    /// False when the connection ends meanwhile.
    private mutating func pause(_ duration: Duration) -> Bool {
        let end = ContinuousClock.now + duration
        while true {
            let rest = ContinuousClock.now.duration(to: end)
            guard rest > .zero else { return true }
            var descriptor = pollfd(fd: stream.descriptor, events: Int16(POLLIN), revents: 0)
            let (seconds, attoseconds) = rest.components
            let count = poll(&descriptor, 1, Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1))
            if count > 0, !readMore() { return false }
        }
    }

    private mutating func readMore() -> Bool {
        guard let bytes = try? stream.receive(), !bytes.isEmpty else { return false }
        record(bytes)
        unread += bytes
        return true
    }
}
