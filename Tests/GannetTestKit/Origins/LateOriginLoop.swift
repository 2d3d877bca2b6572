internal import CEpoll
internal import GannetBase

/// The work of a `LateOrigin`'s thread.
struct LateOriginLoop {
    private struct Connection {
        /// Never used again, unlike the descriptor: an answer may come due after its connection has ended.
        let number: Int
        /// The beginning of a request whose end has not come.
        var received: [UInt8] = []
    }

    private struct Answer {
        let due: ContinuousClock.Instant
        let descriptor: Int32
        let connection: Int
        let path: [UInt8]
    }

    private let listener: Int32
    private let stopEnd: Int32
    private let latency: Duration
    private let state: Monitor<LateOrigin.State>
    private let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))

    /// By descriptor.
    private var connections: [Int32: Connection] = [:]
    private var nextNumber = 0
    /// All answers wait equally long, so the order in which they come due is the order of their requests.
    private var answers = Fifo<Answer>()
    private var buffer = [UInt8](repeating: 0, count: 16 << 10)
    private var response: [UInt8]
    private let bodyStart: Int

    private static let longestHead = 16 << 10
    /// The part of a body that the path takes. The rest is the same in all bodies.
    private static let longestPath = 256
    private static let filling = UInt8(ascii: "x")

    init(listener: Int32, stopEnd: Int32, latency: Duration, bodySize: Int, state: Monitor<LateOrigin.State>) {
        self.listener = listener
        self.stopEnd = stopEnd
        self.latency = latency
        self.state = state
        let head = """
            HTTP/1.1 200 OK\r
            Content-Type: application/octet-stream\r
            Content-Length: \(bodySize)\r
            \r\n
            """
        response = Array(head.utf8)
        bodyStart = response.count
        response += [UInt8](repeating: Self.filling, count: bodySize)
    }

    mutating func run() {
        Descriptor.setFlags(of: listener)
        watch(listener)
        watch(stopEnd)
        while waitForWork() {}
        for descriptor in connections.keys { close(descriptor) }
        for descriptor in [listener, stopEnd, epoll] { close(descriptor) }
    }

    /// False when told to stop.
    private mutating func waitForWork() -> Bool {
        var events = [epoll_event](repeating: epoll_event(), count: 256)
        let count: Int32
        if let due = answers.first?.due {
            // In nanoseconds: a whole millisecond would be a part of the latency.
            let (seconds, attoseconds) = max(.zero, due - .now).components
            var wait = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
            count = epoll_pwait2(epoll, &events, Int32(events.count), &wait, nil)
        } else {
            count = epoll_wait(epoll, &events, Int32(events.count), -1)
        }
        guard count >= 0 || errno == EINTR else { return false }
        for event in events.prefix(Int(max(0, count))) {
            switch event.data.fd {
            case stopEnd: return false
            case listener: acceptConnections()
            default: receive(from: event.data.fd)
            }
        }
        while let answer = answers.first, answer.due <= .now {
            _ = answers.popFirst()
            send(answer)
        }
        return true
    }

    private func watch(_ descriptor: Int32) {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.fd = descriptor
        epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)
    }

    private mutating func acceptConnections() {
        while true {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else { return }
            Descriptor.setFlags(of: descriptor)
            connections[descriptor] = Connection(number: nextNumber)
            nextNumber += 1
            state.update { $0.connections += 1 }
            watch(descriptor)
        }
    }

    private mutating func end(_ descriptor: Int32) {
        unwatch(descriptor, in: epoll)
        close(descriptor)
        connections[descriptor] = nil
    }

    private mutating func receive(from descriptor: Int32) {
        // Another thread's descriptor may have the number of a connection that has ended.
        guard var connection = connections[descriptor] else { return }
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0 && (errno == EAGAIN || errno == EINTR) { return }
        guard count > 0 else { return end(descriptor) }
        connections[descriptor] = nil
        connection.received += buffer[..<count]
        while let head = Self.head(in: connection.received) {
            let path = connection.received[..<head].split(separator: UInt8(ascii: " "), maxSplits: 2)
            answers.append(
                Answer(
                    due: .now + latency, descriptor: descriptor, connection: connection.number,
                    path: path.count == 3 ? Array(path[1].prefix(Self.longestPath)) : []))
            connection.received.removeFirst(head)
        }
        connections[descriptor] = connection
        if connection.received.count > Self.longestHead { end(descriptor) }
    }

    /// The length of the first head in these bytes, with the empty line at its end.
    private static func head(in bytes: [UInt8]) -> Int? {
        var newlines = 0
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "\n"):
                newlines += 1
                if newlines == 2 { return index + 1 }
            case UInt8(ascii: "\r"): break
            default: newlines = 0
            }
        }
        return nil
    }

    private mutating func send(_ answer: Answer) {
        guard connections[answer.descriptor]?.number == answer.connection else { return }
        for index in 0..<min(Self.longestPath, response.count - bodyStart) {
            response[bodyStart + index] = index < answer.path.count ? answer.path[index] : Self.filling
        }
        // Counted before it is sent, so that a client that has its answer finds it in the count.
        state.update { $0.answered += 1 }
        // A client that reads its answers leaves room for one. The connection of any other client ends here.
        guard sendOnce(answer.descriptor, response) == response.count else {
            state.update { $0.answered -= 1 }
            return end(answer.descriptor)
        }
    }
}

// Inside the type its own function hides that of C.
private func sendOnce(_ descriptor: Int32, _ bytes: [UInt8]) -> Int { send(descriptor, bytes, bytes.count, sendWithoutSignal) }
