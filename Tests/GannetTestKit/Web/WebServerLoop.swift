internal import CEpoll
internal import GannetBase

/// The work of a made-up web's thread: connections in, answers out when they are due.
struct WebServerLoop {
    private enum Due {
        case answer(Int32, connection: Int)
        /// More of an endless body.
        case more(Int32, connection: Int)
    }

    private let plan: WebPlan
    private let ports: WebPorts
    private let listeners: WebListeners
    private let identities: WebIdentities
    private let stopEnd: Int32
    private let ledger: WebLedger
    private let bodies = WebBodies()
    private let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))

    private var machines: [WebHostMachine]
    /// By descriptor.
    private var connections: [WebConnection?] = []
    private var nextNumber = 0
    private var due = DueHeap<Int64, Due>()
    private var first: Int64?
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    /// Given up for a moment where descriptors run out, so that a connection can be accepted and closed.
    private var spare = open("/dev/null", O_RDONLY | O_CLOEXEC)

    /// An endless body grows by this much, so often: 20 MB a second.
    private static let endlessPart = 1 << 20
    private static let endlessPause: Int64 = 50_000_000

    init(_ plan: WebPlan, _ listeners: WebListeners, _ identities: WebIdentities, stopEnd: Int32, ledger: WebLedger) {
        self.plan = plan
        self.listeners = listeners
        ports = WebPorts(listeners)
        self.identities = identities
        self.stopEnd = stopEnd
        self.ledger = ledger
        machines = [WebHostMachine](repeating: WebHostMachine(), count: plan.hosts.count)
    }

    mutating func run() {
        for descriptor in [listeners.plain, listeners.tls, stopEnd] { control(EPOLL_CTL_ADD, descriptor, EPOLLIN.rawValue) }
        while waitForWork() {}
        for case let connection? in connections { connection.stream.close() }
        for descriptor in listeners.all + [stopEnd, epoll, spare] { close(descriptor) }
        buffer.deallocate()
    }

    /// False when told to stop.
    private mutating func waitForWork() -> Bool {
        var events = [epoll_event](repeating: epoll_event(), count: 256)
        let count: Int32
        if let next = due.nextDue {
            // In nanoseconds: a whole millisecond would be a part of the latency.
            let rest = max(0, next - monotonicNanoseconds())
            var wait = timespec(tv_sec: Int(rest / 1_000_000_000), tv_nsec: Int(rest % 1_000_000_000))
            count = epoll_pwait2(epoll, &events, Int32(events.count), &wait, nil)
        } else {
            count = epoll_wait(epoll, &events, Int32(events.count), -1)
        }
        guard count >= 0 || errno == EINTR else { return false }
        for event in events.prefix(Int(max(0, count))) {
            switch event.data.fd {
            case stopEnd: return false
            case listeners.plain: acceptAll(listeners.plain, speakTLS: false)
            case listeners.tls: acceptAll(listeners.tls, speakTLS: true)
            case let descriptor: advance(descriptor, isWritable: event.events & EPOLLOUT.rawValue != 0)
            }
        }
        let now = monotonicNanoseconds()
        while let next = due.popDue(at: now) {
            switch next {
            case .answer(let descriptor, let number):
                guard let connection = connection(descriptor), connection.number == number else { continue }
                startAnswer(connection)
            case .more(let descriptor, let number):
                guard let connection = connection(descriptor), connection.number == number else { continue }
                connection.extend(by: Self.endlessPart)
                send(connection)
            }
        }
        return true
    }

    private func connection(_ descriptor: Int32) -> WebConnection? {
        connections.indices.contains(Int(descriptor)) ? connections[Int(descriptor)] : nil
    }

    private func control(_ operation: Int32, _ descriptor: Int32, _ interest: UInt32) {
        var event = epoll_event()
        event.events = interest
        event.data.fd = descriptor
        epoll_ctl(epoll, operation, descriptor, &event)
    }

    private func watch(_ connection: WebConnection, alsoWrites: Bool) {
        let interest = EPOLLIN.rawValue | (alsoWrites ? EPOLLOUT.rawValue : 0)
        guard interest != connection.interest else { return }
        control(connection.interest == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, connection.stream.descriptor, interest)
        connection.interest = interest
    }

    // MARK: - Connections

    private mutating func acceptAll(_ listener: Int32, speakTLS: Bool) {
        // A bound, so that answers are not late because many connect.
        for _ in 0..<256 {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else {
                guard errno == EMFILE || errno == ENFILE else { return }
                close(spare)
                close(accept(listener, nil, nil))
                spare = open("/dev/null", O_RDONLY | O_CLOEXEC)
                ledger.record.withLock { $0.refusedByLimit += 1 }
                continue
            }
            Descriptor.setFlags(of: descriptor)
            let now = monotonicNanoseconds()
            guard let host = Self.host(of: descriptor), plan.hosts.indices.contains(host),
                let stream = WebStream(descriptor, speakTLS ? identities.identity(of: plan.hosts[host]) : nil)
            else {
                close(descriptor)
                continue
            }
            if first == nil { first = now }
            ledger.record.withLock {
                if $0.first == nil { $0.first = now }
                $0.connections[host] += 1
                $0.openConnections += 1
                $0.mostOpenConnections = max($0.mostOpenConnections, $0.openConnections)
            }
            let connection = WebConnection(stream, number: nextNumber, host: host)
            nextNumber += 1
            while connections.count <= Int(descriptor) { connections.append(nil) }
            connections[Int(descriptor)] = connection
            watch(connection, alsoWrites: false)
        }
    }

    /// The number of the host whose address a client has connected to.
    private static func host(of descriptor: Int32) -> Int? {
        var name = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return status == 0 ? Int(UInt32(bigEndian: name.sin_addr.s_addr)) - Int(WebHost.firstAddress) : nil
    }

    private mutating func advance(_ descriptor: Int32, isWritable: Bool) {
        guard let connection = connection(descriptor) else { return }
        if !connection.stream.isReady {
            switch connection.stream.shakeHands() {
            case nil: watch(connection, alsoWrites: false)
            case .ended:
                ledger.record.withLock { $0.failedHandshakes += 1 }
                return end(connection, .left)
            case .wantsWrite: return watch(connection, alsoWrites: true)
            case .wantsRead, .bytes: return watch(connection, alsoWrites: false)
            }
        }
        reading: while true {
            switch connection.stream.read(into: buffer) {
            case .bytes(let count):
                guard connection.received(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return end(connection, .left) }
            case .ended: return end(connection, .left)
            case .wantsRead, .wantsWrite: break reading
            }
        }
        if connection.isSending { if isWritable { send(connection) } } else { takeRequest(connection) }
    }

    /// - Parameter how: The end of the request in flight, where there is one.
    private mutating func end(_ connection: WebConnection, _ how: WebRequest.End, resets: Bool = false) {
        endRequest(connection, how)
        connections[Int(connection.stream.descriptor)] = nil
        unwatch(connection.stream.descriptor, in: epoll)
        connection.stream.close(resets: resets)
        ledger.record.withLock { $0.openConnections -= 1 }
    }

    // MARK: - Requests

    private mutating func takeRequest(_ connection: WebConnection) {
        guard connection.request == nil, let path = connection.nextRequest() else { return }
        let now = monotonicNanoseconds()
        let host = plan.hosts[connection.host]
        let answer = machines[connection.host].answer(to: path, at: host, plan, now: now - (first ?? now))
        var request = WebRequest(
            begun: now, host: connection.host, path: WebRequest.Path(path), inFlight: machines[connection.host].requestsInFlight)
        if case .reply(let reply) = answer {
            request.status = reply.status
            request.retryAfter = UInt16(reply.retryAfter ?? 0)
        }
        connection.request = ledger.record.withLock { [request] in
            $0.requests.append(request)
            return $0.requests.count - 1
        }
        switch answer {
        case .silence: break
        case .reset: end(connection, .broken, resets: true)
        case .reply(let reply):
            connection.reply = reply
            if reply.delay > 0 {
                due.add(.answer(connection.stream.descriptor, connection: connection.number), due: now + reply.delay)
            } else {
                startAnswer(connection)
            }
        }
    }

    private mutating func endRequest(_ connection: WebConnection, _ how: WebRequest.End) {
        guard let request = connection.request else { return }
        connection.request = nil
        connection.isSending = false
        machines[connection.host].ended()
        let sent = Int64(connection.bytesSent)
        let now = monotonicNanoseconds()
        ledger.record.withLock {
            $0.requests[request].ended = now
            $0.requests[request].end = how
            $0.requests[request].bytes = sent
        }
    }

    private mutating func startAnswer(_ connection: WebConnection) {
        guard let reply = connection.reply else { return }
        let head = WebAnswerHead.bytes(reply, plan, ports, bodies)
        let url = connection.number &* 61
        switch reply.body {
        case .bytes(let count): connection.startSending(head, bodies.filling, from: url, count: count, keeps: true)
        case .robots: connection.startSending(head, bodies.robots, from: 0, count: bodies.robots.count, keeps: true)
        case .hugeRobots: connection.startSending(head, bodies.hugeRobots, from: 0, count: bodies.hugeRobots.count, keeps: true)
        case .cut(let count): connection.startSending(head, bodies.filling, from: url, count: count / 2, keeps: false)
        case .endless: connection.startSending(head, bodies.filling, from: url, count: Self.endlessPart, keeps: false)
        case .wrongEncoding(let count): connection.startSending(head, bodies.filling, from: url, count: count, keeps: true)
        }
        send(connection)
    }

    private mutating func send(_ connection: WebConnection) {
        switch connection.send() {
        case .wantsWrite: return watch(connection, alsoWrites: true)
        case .wantsRead, .bytes: return watch(connection, alsoWrites: false)
        case .ended: return end(connection, .left)
        case nil: break
        }
        watch(connection, alsoWrites: false)
        switch connection.reply?.body {
        case .endless:
            due.add(
                .more(connection.stream.descriptor, connection: connection.number), due: monotonicNanoseconds() + Self.endlessPause)
        case .cut: end(connection, .broken)
        default:
            guard connection.keeps else { return end(connection, .complete) }
            endRequest(connection, .complete)
            takeRequest(connection)
        }
    }
}

/// The record of a made-up web, which its thread writes and other threads read.
final class WebLedger: Sendable {
    let record: Mutex<WebRecord>

    init(hosts: Int) { record = Mutex(WebRecord(hosts: hosts)) }
}

/// Nanoseconds by the system's monotonic clock, which all processes of a machine share.
func monotonicNanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
