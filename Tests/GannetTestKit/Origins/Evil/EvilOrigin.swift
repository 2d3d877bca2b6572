internal import GannetBase

/// An origin that does to its clients whatever the worst of the web does: every `EvilBehaviour` has a URL here, for any client.
///
/// A connection has a thread of its own, which waits for nothing but its socket and the clock, so that `stop()` ends it at once.
package final class EvilOrigin: Sendable {
    /// The answer of `/good`.
    package static let goodBody = Array("Nothing evil here.\n".utf8)

    /// How often a behaviour has been met.
    package struct Count: Hashable, Sendable {
        /// Connections on which it was asked for, or to its own port.
        package var connections: Int
        package var requests: Int
        /// The number of connections that have ended.
        package var closings: Int
        /// Answers, and connections to its own port, that have not come to their end.
        package var running: Int

        package init(connections: Int = 0, requests: Int = 0, closings: Int = 0, running: Int = 0) {
            self.connections = connections
            self.requests = requests
            self.closings = closings
            self.running = running
        }
    }

    struct State: Sendable {
        var counts: [EvilBehaviour: Count] = [:]
        /// The descriptors of running connections; a thread closes its own only after it has taken it out of here.
        var open: Set<Int32> = []
        var isStopped = false
        /// Threads that have not ended, the accepting one included.
        var threads = 1
    }

    private let doors: EvilDoors
    private let state = Monitor(State())
    /// Closing the near end ends the accepting thread.
    private let bell: Int32

    /// Listens on ports of 127.0.0.1 that the kernel chose.
    package init(_ certificates: Certificates) throws {
        doors = try EvilDoors(certificates)
        let (near, far) = try makeChannel()
        bell = near
        OwnedThread.start(name: "evil") { [doors, state] in Self.acceptConnections(doors, far, state) }
    }

    deinit {
        wakeThreads()
    }

    /// The URL to ask for.
    /// - Parameter credentials: The part before the host, with its `@`.
    package func url(_ behaviour: EvilBehaviour, host: String = "127.0.0.1", credentials: String = "") -> String {
        "\(behaviour.scheme)://\(credentials)\(host):\(doors.port(of: behaviour))\(behaviour.path)"
    }

    /// The port of a behaviour, which most share.
    package func port(of behaviour: EvilBehaviour) -> UInt16 { doors.port(of: behaviour) }

    package func count(_ behaviour: EvilBehaviour) -> Count { state.update { $0.counts[behaviour] ?? Count() } }

    /// Waits until a behaviour's count is as wanted.
    package func wait(for behaviour: EvilBehaviour, until isWanted: @escaping @Sendable (Count) -> Bool) async throws {
        try await state.wait { isWanted($0.counts[behaviour] ?? Count()) ? () : nil }
    }

    /// Ends all connections and listens no more.
    package func stop() async throws {
        wakeThreads()
        try await state.wait { $0.threads == 0 ? () : nil }
    }

    private func wakeThreads() {
        let isFirst = state.update { state in
            defer { state.isStopped = true }
            // Shutting down wakes whoever is blocked in a call; each thread closes its own descriptor.
            for descriptor in state.open { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
            return !state.isStopped
        }
        if isFirst { closeSocket(bell) }
    }

    private static func acceptConnections(_ doors: EvilDoors, _ bell: Int32, _ state: Monitor<State>) {
        var polled = doors.listeners.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        polled.append(pollfd(fd: bell, events: Int16(POLLIN), revents: 0))
        while true {
            guard poll(&polled, nfds_t(polled.count), -1) > 0 else { continue }
            if polled[doors.listeners.count].revents != 0 { break }
            for (index, listener) in doors.listeners.enumerated() where polled[index].revents != 0 {
                let descriptor = accept(listener.descriptor, nil, nil)
                guard descriptor >= 0 else { continue }
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                // Only some systems hand this on from the listening socket.
                _ = fcntl(descriptor, F_SETFL, 0)
                let isWelcome = state.update { state in
                    guard !state.isStopped else { return false }
                    state.open.insert(descriptor)
                    state.threads += 1
                    return true
                }
                guard isWelcome else {
                    closeSocket(descriptor)
                    continue
                }
                OwnedThread.start(name: "evil") {
                    let connection = EvilConnection(descriptor, listener, doors, state)
                    connection.serve()
                    state.update { _ = $0.open.remove(descriptor) }
                    closeSocket(descriptor)
                    connection.ended()
                    state.update { $0.threads -= 1 }
                }
            }
        }
        doors.close()
        closeSocket(bell)
        state.update { $0.threads -= 1 }
    }
}
