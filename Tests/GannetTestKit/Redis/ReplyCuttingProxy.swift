internal import GannetBase

/// Stands between a client and a server on a Unix socket and hands everything on, until it is told to lose a reply. It receives the next reply, so
/// that the server has carried out the command, and cuts the connection instead of handing the reply on.
///
/// It does not lose a reply that the server does not know a script, since the client asks again at once.
package final class ReplyCuttingProxy: Sendable {
    private struct State: Sendable {
        /// How many more replies pass before one is lost; `nil` where none is to be lost.
        var passing: Int?
        var cuts = 0
        var open: Set<Int32> = []
        var isStopped = false
        /// Threads that have not ended, the accepting one included.
        var threads = 1
    }

    /// Where it listens.
    package let socketPath: String

    private let folder: TemporaryFolder
    private let listener: Int32
    private let state = Monitor(State())

    package init(to server: RedisServer) throws(KitError) {
        folder = try TemporaryFolder()
        socketPath = folder.file("proxy.sock")
        listener = try Socket.listen(on: .unix(path: socketPath))
        let (listener, state, path) = (listener, state, server.socketPath)
        OwnedThread.start(name: "test-kit") { Self.acceptConnections(listener, .unix(path: path), state) }
    }

    deinit { wakeThreads() }

    /// Loses the next reply on any connection, or one that comes later.
    /// - Parameter passing: How many replies pass before that.
    package func cutNextReply(after passing: Int = 0) { state.update { $0.passing = passing } }

    /// Loses no reply that is not lost yet.
    package func cutNone() { state.update { $0.passing = nil } }

    /// How many replies were lost.
    package var cuts: Int { state.update { $0.cuts } }

    /// Ends all connections and listens no more.
    package func stop() async throws {
        wakeThreads()
        try await state.wait { $0.threads == 0 ? () : nil }
    }

    private func wakeThreads() {
        state.update { state in
            guard !state.isStopped else { return }
            state.isStopped = true
            for descriptor in state.open { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
        // A last connection wakes the thread that accepts.
        if let descriptor = try? Socket.connect(to: .unix(path: socketPath)) { closeSocket(descriptor) }
    }

    private static func acceptConnections(_ listener: Int32, _ server: ServerAddress, _ state: Monitor<State>) {
        while true {
            let client = accept(listener, nil, nil)
            if client < 0 && (errno == EINTR || errno == ECONNABORTED) { continue }
            guard client >= 0 else { break }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            let isWelcome = state.update { state in
                if !state.isStopped {
                    state.open.insert(client)
                    state.threads += 1
                }
                return !state.isStopped
            }
            guard isWelcome else {
                closeSocket(client)
                break
            }
            OwnedThread.start(name: "test-kit") {
                if let upstream = try? Socket.connect(to: server) {
                    handOn(between: client, and: upstream, state)
                    closeSocket(upstream)
                }
                state.update { _ = $0.open.remove(client) }
                closeSocket(client)
                state.update { $0.threads -= 1 }
            }
        }
        closeSocket(listener)
        state.update { $0.threads -= 1 }
    }

    private static func handOn(between client: Int32, and server: Int32, _ state: Monitor<State>) {
        var ends = [pollfd(fd: client, events: Int16(POLLIN), revents: 0), pollfd(fd: server, events: Int16(POLLIN), revents: 0)]
        while true {
            if poll(&ends, 2, -1) < 0 {
                if errno == EINTR { continue }
                return
            }
            for (index, end) in ends.enumerated() where end.revents != 0 {
                guard let bytes = try? Socket.receive(from: end.fd), !bytes.isEmpty else { return }
                let isReply = index == 1
                if isReply && !bytes.starts(with: "-NOSCRIPT".utf8) {
                    let isCut = state.update { state in
                        guard let passing = state.passing else { return false }
                        state.passing = passing > 0 ? passing - 1 : nil
                        state.cuts += passing == 0 ? 1 : 0
                        return passing == 0
                    }
                    if isCut { return }
                }
                guard (try? Socket.sendAll(bytes, to: ends[1 - index].fd)) != nil else { return }
            }
        }
    }
}
