internal import GannetBase

/// A DNS server on 127.0.0.1 whose answers a script decides, over UDP and, on the same port, TCP.
///
/// One thread does all the work and only waits for the network. So it can play a resolver that is asked for many thousand names, some of them slow or
/// never answered.
package final class DNSServer: Sendable {
    struct State: Sendable {
        struct Key: Hashable { let name: String, type: DNSQuestion.RecordType }

        var counts: [Key: Int] = [:]
        var total = 0
        var overTCP = 0
        var ports: Set<UInt16> = []
        var isStopped = false
    }

    /// Where it listens on 127.0.0.1.
    package let port: UInt16

    private let state: Monitor<State>
    private let wake: Int32

    /// - Parameters:
    ///   - port: The kernel chooses one unless it is given.
    ///   - script: Decides each answer; runs on the server's thread and must not wait.
    package init(port: UInt16 = 0, _ script: @escaping @Sendable (DNSQuestion) -> DNSReply) throws(KitError) {
        let sockets = try DNSServerSockets(port: port)
        self.port = sockets.port
        wake = sockets.wakeEnd
        let state = Monitor(State())
        self.state = state
        OwnedThread.start(name: "test-kit-dns") {
            var loop = DNSServerLoop(sockets: sockets, state: state, script: script)
            loop.run()
            state.update { $0.isStopped = true }
        }
    }

    deinit {
        // The thread takes the end of the pipe for the order to leave.
        close(wake)
    }

    /// `127.0.0.1:PORT`.
    package var address: String { "127.0.0.1:\(port)" }

    /// How many queries have come, retransmissions included.
    package var queries: Int { state.update { $0.total } }

    /// How many of them came over TCP.
    package var queriesOverTCP: Int { state.update { $0.overTCP } }

    /// From how many ports datagrams have come.
    package var ports: Int { state.update { $0.ports.count } }

    /// How often a name has been asked for, in lower case; by type or in all.
    package func queries(for name: String, _ type: DNSQuestion.RecordType? = nil) -> Int {
        state.update { state in
            guard let type else { return state.counts.reduce(0) { $1.key.name == name ? $0 + $1.value : $0 } }
            return state.counts[.init(name: name, type: type), default: 0]
        }
    }

    /// Waits until this many queries have come.
    package func received(_ count: Int) async throws {
        try await state.wait { $0.total >= count ? () : nil }
    }

    /// Closes its sockets: from now on the port refuses.
    package func stop() async throws {
        // Half a shutdown is an end of file to the other end, and the descriptor stays ours until deinit.
        shutdown(wake, Int32(SHUT_RDWR))
        try await state.wait { $0.isStopped ? () : nil }
    }
}
