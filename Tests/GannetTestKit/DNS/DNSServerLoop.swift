internal import GannetBase

/// The work of a `DNSServer`'s thread.
struct DNSServerLoop {
    private enum Message {
        case datagram([UInt8], sockaddr_in, fromElsewhere: Bool)
        case stream([UInt8], connection: Int)
    }

    private struct Connection {
        let descriptor: Int32
        var received: [UInt8] = []
    }

    private let sockets: DNSServerSockets
    private let state: Monitor<DNSServer.State>
    private let script: @Sendable (DNSQuestion) -> DNSReply
    /// By a number that is never used again, since a descriptor may be by the time a slow answer is due.
    private var connections: [Int: Connection] = [:]
    private var nextConnection = 0
    private var delayed = DueHeap<ContinuousClock.Instant, Message>()
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    init(
        sockets: DNSServerSockets, state: Monitor<DNSServer.State>, script: @escaping @Sendable (DNSQuestion) -> DNSReply
    ) {
        self.sockets = sockets
        self.state = state
        self.script = script
    }

    mutating func run() {
        while waitForWork() {}
        for descriptor in [sockets.datagrams, sockets.elsewhere, sockets.listener, sockets.stopEnd] { close(descriptor) }
        for connection in connections.values { close(connection.descriptor) }
    }

    /// False when told to stop.
    private mutating func waitForWork() -> Bool {
        let numbers = Array(connections.keys)
        var descriptors = [sockets.stopEnd, sockets.datagrams, sockets.listener].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        descriptors += numbers.map { pollfd(fd: connections[$0]!.descriptor, events: Int16(POLLIN), revents: 0) }
        var wait: Int32 = -1
        if let due = delayed.nextDue {
            let (seconds, attoseconds) = max(.zero, due - .now).components
            wait = Int32(clamping: seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        }
        guard poll(&descriptors, nfds_t(descriptors.count), wait) >= 0 || errno == EINTR else { return false }
        guard descriptors[0].revents == 0 else { return false }
        if descriptors[1].revents != 0 { receiveDatagrams() }
        if descriptors[2].revents != 0 { acceptConnection() }
        for (index, number) in numbers.enumerated() where descriptors[index + 3].revents != 0 { receive(from: number) }
        while let message = delayed.popDue(at: .now) { send(message) }
        return true
    }

    private mutating func receiveDatagrams() {
        // A bound, so that delayed answers are not late because many ask.
        for _ in 0..<256 {
            var peer = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = withUnsafeMutablePointer(to: &peer) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(sockets.datagrams, &buffer, buffer.count, 0, $0, &length)
                }
            }
            guard count >= 0 else {
                // Linux reports here that an earlier answer found nobody at home.
                if errno == ECONNREFUSED || errno == EINTR { continue }
                return
            }
            guard let query = DNSQuery(buffer[..<count]) else { continue }
            let reply = answer(query, port: UInt16(bigEndian: peer.sin_port))
            guard !reply.isSilent else { continue }
            if let forgery = reply.forgery(to: query) { send(.datagram(forgery, peer, fromElsewhere: true), after: reply.delay) }
            for message in reply.messages(to: query, overTCP: false) {
                send(.datagram(message, peer, fromElsewhere: false), after: reply.delay)
            }
        }
    }

    private mutating func acceptConnection() {
        let descriptor = accept(sockets.listener, nil, nil)
        guard descriptor >= 0 else { return }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        connections[nextConnection] = Connection(descriptor: descriptor)
        nextConnection += 1
    }

    private mutating func receive(from number: Int) {
        guard var connection = connections.removeValue(forKey: number) else { return }
        guard let bytes = try? Socket.receive(from: connection.descriptor), !bytes.isEmpty else {
            close(connection.descriptor)
            return
        }
        connection.received += bytes
        connections[number] = connection
        while connection.received.count >= 2 {
            let end = 2 + Int(connection.received[0]) << 8 + Int(connection.received[1])
            guard connection.received.count >= end else { break }
            let query = DNSQuery(connection.received[2..<end])
            connection.received.removeSubrange(..<end)
            connections[number]?.received = connection.received
            guard let query else { continue }
            let reply = answer(query, port: nil)
            guard !reply.isSilent else { continue }
            for message in reply.messages(to: query, overTCP: true) { send(.stream(message, connection: number), after: reply.delay) }
        }
    }

    /// - Parameter port: The client's, for a query in a datagram.
    private func answer(_ query: DNSQuery, port: UInt16?) -> DNSReply {
        let previous = state.update { state in
            state.total += 1
            if let port { state.ports.insert(port) } else { state.overTCP += 1 }
            let key = DNSServer.State.Key(name: query.name, type: query.type)
            let previous = state.counts[key, default: 0]
            state.counts[key] = previous + 1
            return previous
        }
        return script(DNSQuestion(name: query.name, type: query.type, previous: previous, isOverTCP: port == nil, hasEDNS: query.hasEDNS))
    }

    private mutating func send(_ message: Message, after delay: Duration) {
        if delay > .zero { delayed.add(message, due: .now + delay) } else { send(message) }
    }

    private mutating func send(_ message: Message) {
        switch message {
        case .datagram(let bytes, var peer, let fromElsewhere):
            // A client whose buffer is full loses it, as on any network.
            withUnsafePointer(to: &peer) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = sendto(
                        fromElsewhere ? sockets.elsewhere : sockets.datagrams, bytes, bytes.count, 0, $0,
                        socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        case .stream(let bytes, let number):
            guard let connection = connections[number] else { return }
            let length = [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xff)]
            guard (try? Socket.sendAll(length + bytes, to: connection.descriptor)) == nil else { return }
            close(connection.descriptor)
            connections[number] = nil
        }
    }
}
