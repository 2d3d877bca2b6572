// Linux only: epoll.
internal import CEpoll
internal import GannetBase

/// Stands between clients and a server on a Unix socket, and holds all bytes for a time in each direction: a network with a round trip.
///
/// It keeps the order, and it holds as many bytes as come, so a round trip is all that it costs. One thread does everything.
package final class DelayingProxy: Sendable {
    /// Where it listens.
    package let socketPath: String

    private let folder: TemporaryFolder
    private let wake: Int32
    private let isStopped = Monitor(false)

    /// - Parameter roundTrip: Half of it passes before a command arrives, and half before its reply does.
    package init(to server: RedisServer, roundTrip: Duration) throws(KitError) {
        folder = try TemporaryFolder()
        socketPath = folder.file("proxy.sock")
        let listener = try Socket.listen(on: .unix(path: socketPath))
        let stopEnd: Int32
        (stopEnd, wake) = try makeChannel()
        let (isStopped, path) = (isStopped, server.socketPath)
        OwnedThread.start(name: "test-kit") {
            var loop = DelayingLoop(listener: listener, stopEnd: stopEnd, server: .unix(path: path), delay: roundTrip / 2)
            loop.run()
            isStopped.update { $0 = true }
        }
    }

    deinit {
        // The thread takes the end of the channel for the order to leave.
        close(wake)
    }

    /// Ends all connections and listens no more.
    package func stop() async throws {
        shutdown(wake, Int32(SHUT_RDWR))
        try await isStopped.wait { $0 ? () : nil }
    }
}

/// The work of the proxy's thread.
private struct DelayingLoop {
    private struct Piece {
        let due: ContinuousClock.Instant
        let descriptor: Int32
        /// The number of the connection: a descriptor may be another connection's by the time.
        let connection: Int
        /// None at the end of the stream.
        let bytes: [UInt8]
    }

    let listener: Int32
    let stopEnd: Int32
    let server: ServerAddress
    let delay: Duration
    private let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))

    /// The other end of each descriptor, and the number of their connection.
    private var others: [Int32: (descriptor: Int32, connection: Int)] = [:]
    private var nextNumber = 0
    /// All wait equally long, so they come due in the order in which they came.
    private var pieces = Fifo<Piece>()

    init(listener: Int32, stopEnd: Int32, server: ServerAddress, delay: Duration) {
        self.listener = listener
        self.stopEnd = stopEnd
        self.server = server
        self.delay = delay
    }

    mutating func run() {
        for descriptor in [listener, stopEnd] { watch(descriptor) }
        while waitForWork() {}
        for descriptor in others.keys { closeSocket(descriptor) }
        for descriptor in [listener, stopEnd, epoll] { closeSocket(descriptor) }
    }

    /// False when told to stop.
    private mutating func waitForWork() -> Bool {
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        let count: Int32
        if let due = pieces.first?.due {
            // In nanoseconds: a whole millisecond would be a part of the round trip.
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
            case listener: acceptConnection()
            default: receive(from: event.data.fd)
            }
        }
        while let piece = pieces.first, piece.due <= .now {
            _ = pieces.popFirst()
            handOn(piece)
        }
        return true
    }

    private func watch(_ descriptor: Int32) {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.fd = descriptor
        epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)
    }

    private mutating func acceptConnection() {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        guard let upstream = try? Socket.connect(to: server) else { return closeSocket(client) }
        others[client] = (upstream, nextNumber)
        others[upstream] = (client, nextNumber)
        for descriptor in [client, upstream] { watch(descriptor) }
        nextNumber += 1
    }

    private mutating func receive(from descriptor: Int32) {
        // It may have ended with its other end, in the same round.
        guard let other = others[descriptor] else { return }
        let bytes = (try? Socket.receive(from: descriptor, atMost: 1 << 20)) ?? []
        pieces.append(Piece(due: .now + delay, descriptor: other.descriptor, connection: other.connection, bytes: bytes))
        // Nothing more comes from it. It closes when the end of the stream has been handed on.
        if bytes.isEmpty { unwatch(descriptor, in: epoll) }
    }

    private mutating func handOn(_ piece: Piece) {
        guard let other = others[piece.descriptor], other.connection == piece.connection else { return }
        // Both sides always read, so this never waits for long.
        let isSent = !piece.bytes.isEmpty && (try? Socket.sendAll(piece.bytes, to: piece.descriptor)) != nil
        if isSent { return }
        for descriptor in [piece.descriptor, other.descriptor] {
            others[descriptor] = nil
            unwatch(descriptor, in: epoll)
            closeSocket(descriptor)
        }
    }
}
