internal import GannetBase

/// A server that follows a script instead of a protocol: one that is silent, says what no server would, or leaves in mid-sentence.
///
/// Every connection runs its script on a thread of its own and is closed when the script ends. All end with `stop()`, or with the
/// last reference.
package final class HostileServer: Sendable {
    private struct State: Sendable {
        var accepted = 0
        var received: [[UInt8]] = []
        /// The descriptors of running connections; a thread closes its own only after it has taken it out of here.
        var open: Set<Int32> = []
        var isStopped = false
        /// nil once the accepting thread has given it up.
        var listener: Int32?
        /// Threads that have not ended, the accepting one included.
        var threads = 1
    }

    /// Where it listens.
    package let address: ServerAddress

    private let state: Monitor<State>

    /// Listens on a port of 127.0.0.1 that the kernel chose, or on a Unix socket. The first connection runs the first script, and so
    /// on; those beyond the last run the last.
    package init(unixSocket path: String? = nil, scripts: [[Step]]) throws(KitError) {
        let listener = try Socket.listen(on: path.map { .unix(path: $0) } ?? .loopback(port: 0))
        address = path.map { .unix(path: $0) } ?? .loopback(port: Socket.port(of: listener))
        let state = Monitor(State(listener: listener))
        self.state = state
        OwnedThread.start(name: "test-kit") { Self.acceptConnections(listener, scripts, state) }
    }

    /// A server whose every connection runs the same script.
    package convenience init(unixSocket path: String? = nil, _ script: Step...) throws(KitError) {
        try self.init(unixSocket: path, scripts: [script])
    }

    deinit {
        wakeThreads()
    }

    /// The port, for a server that has one.
    package var port: UInt16 {
        guard case .loopback(let port) = address else { preconditionFailure("a server on a Unix socket has no port") }
        return port
    }

    /// How many connections it has accepted.
    package var connections: Int { state.update { $0.accepted } }

    /// Waits until it has accepted this many.
    package func accepted(_ count: Int) async throws {
        let state = state
        try await bounded("\(count) connections are accepted") { try await state.wait { $0.accepted >= count ? () : nil } }
    }

    /// Waits until this many of its connections have ended.
    package func ended(_ count: Int) async throws {
        let state = state
        try await bounded("\(count) connections end") { try await state.wait { $0.accepted - $0.open.count >= count ? () : nil } }
    }

    /// The bytes that the connection of this number, counted from 0, has sent so far.
    package func received(by connection: Int = 0) -> [UInt8] {
        state.update { connection < $0.received.count ? $0.received[connection] : [] }
    }

    /// Waits until a connection has sent this text.
    package func received(_ text: String, by connection: Int = 0) async throws {
        let wanted = Array(text.utf8)
        let state = state
        try await bounded("connection \(connection) sends \(text.debugDescription)") {
            try await state.wait { state in
                connection < state.received.count && state.received[connection].firstRange(of: wanted) != nil ? () : nil
            }
        }
    }

    /// Ends all connections and listens no more.
    package func stop() async throws {
        wakeThreads()
        try await state.wait { $0.threads == 0 ? () : nil }
    }

    private func wakeThreads() {
        state.update { state in
            guard !state.isStopped else { return }
            state.isStopped = true
            // Shutting down wakes whoever is blocked in a call; each thread closes its own descriptor.
            if let listener = state.listener { _ = shutdown(listener, Int32(SHUT_RDWR)) }
            for descriptor in state.open { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    private static func acceptConnections(_ listener: Int32, _ scripts: [[Step]], _ state: Monitor<State>) {
        while true {
            let descriptor = accept(listener, nil, nil)
            if descriptor < 0 && (errno == EINTR || errno == ECONNABORTED) { continue }
            guard descriptor >= 0 else { break }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            let number = state.update { state -> Int? in
                guard !state.isStopped else { return nil }
                state.open.insert(descriptor)
                state.received.append([])
                state.accepted += 1
                state.threads += 1
                return state.accepted - 1
            }
            guard let number else {
                closeSocket(descriptor)
                break
            }
            let script = scripts.isEmpty ? [] : scripts[min(number, scripts.count - 1)]
            OwnedThread.start(name: "test-kit") {
                var connection = ScriptedConnection(PlainStream(descriptor)) { bytes in state.update { $0.received[number] += bytes } }
                connection.run(script)
                state.update { _ = $0.open.remove(descriptor) }
                closeSocket(descriptor)
                state.update { $0.threads -= 1 }
            }
        }
        state.update { $0.listener = nil }
        closeSocket(listener)
        state.update { $0.threads -= 1 }
    }
}

extension HostileServer {
    /// Holds connections up until a test opens it.
    package final class Gate: Sendable {
        private let isOpen = Condition(false)

        package init() {}

        package func open() {
            isOpen.withLock { $0 = true }
            isOpen.wakeAll()
        }

        func wait() { isOpen.wait { $0 ? () : nil } }
    }

    /// One step of a script.
    package enum Step: Sendable {
        /// Reads until the peer has sent these bytes since the last step that read.
        case readUntil([UInt8])
        /// Reads this many bytes.
        case read(Int)
        case send([UInt8])
        /// Sends these bytes this many times, with a pause behind each; the peer's leaving and the server's end cut a pause short.
        case sendAgain([UInt8], times: Int, every: Duration)
        case pause(Duration)
        /// Goes on when the gate is open.
        case wait(for: Gate)
        /// Ends the connection in good order.
        case close
        /// Ends this side of the TCP connection, under TLS without a word of farewell, and reads until the peer ends the other.
        case halfClose
        /// Ends it with a reset.
        case reset
        /// Says nothing more, and reads what comes, until the peer or the server ends.
        case silence
        /// Says nothing more and reads nothing, until the server ends: the peer's writes fill the buffers.
        case deafness

        /// Reads until the peer has sent this text.
        package static func readUntil(_ text: String) -> Step { .readUntil(Array(text.utf8)) }

        /// Sends a text.
        package static func send(_ text: String) -> Step { .send(Array(text.utf8)) }
    }
}
