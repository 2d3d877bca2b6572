internal import GannetBase

/// The server's end of one connection to an `EvilOrigin`, on a thread of its own. Its owner closes the descriptor after `serve`.
final class EvilConnection {
    private let descriptor: Int32
    private let listener: EvilDoors.Listener
    private let doors: EvilDoors
    private let state: Monitor<EvilOrigin.State>
    private var met: Set<EvilBehaviour> = []

    /// More than any client's request has.
    private static let longestHead = 1 << 20

    init(_ descriptor: Int32, _ listener: EvilDoors.Listener, _ doors: EvilDoors, _ state: Monitor<EvilOrigin.State>) {
        self.descriptor = descriptor
        self.listener = listener
        self.doors = doors
        self.state = state
        // A client that has read all of a flood and leaves answers probes of its full window for a minute. The end is to be seen sooner.
        giveUp(after: .seconds(2))
    }

    /// How long a client may leave what was sent to it unread.
    private func giveUp(after time: Duration) {
        var milliseconds = CUnsignedInt(time / .milliseconds(1))
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, socklen_t(MemoryLayout.size(ofValue: milliseconds)))
    }

    /// Answers until one side ends the connection.
    func serve() {
        guard let own = listener.behaviour else {
            guard var connection = connect() else { return }
            answerRequests(&connection)
            return
        }
        meet(own)
        if var connection = connect() {
            connection.run(own.script(EvilRequest(head: [], numberOnConnection: 1, doors)).steps)
        }
        finish(own)
    }

    /// To be called when the descriptor is closed.
    func ended() {
        let met = met
        state.update { state in
            for behaviour in met { state.counts[behaviour, default: .init()].closings += 1 }
        }
    }

    private func connect() -> ScriptedConnection? {
        guard let identity = listener.identity else { return ScriptedConnection(PlainStream(descriptor)) { _ in } }
        return TLSStream(descriptor, as: identity).map { stream in ScriptedConnection(stream) { _ in } }
    }

    private func answerRequests(_ connection: inout ScriptedConnection) {
        var number = 0
        while let head = connection.read(until: Array("\r\n\r\n".utf8), atMost: Self.longestHead) {
            number += 1
            let request = EvilRequest(head: head, numberOnConnection: number, doors)
            guard let behaviour = EvilBehaviour(path: request.target) else {
                connection.run(EvilScript.answer("404 Not Found", body: "no such behaviour\n").steps + [.close])
                return
            }
            meet(behaviour)
            // A client on a busy machine unpacks a gigabyte for longer than floods may be left unread.
            if [.gzipBomb, .brotliBomb, .zstdBomb].contains(behaviour) { giveUp(after: .seconds(60)) }
            let goesOn = connection.run(behaviour.script(request).steps)
            finish(behaviour)
            guard goesOn else { return }
        }
    }

    private func meet(_ behaviour: EvilBehaviour) {
        let isNew = met.insert(behaviour).inserted
        let isRequest = listener.behaviour == nil
        state.update { state in
            var count = state.counts[behaviour] ?? .init()
            if isNew { count.connections += 1 }
            if isRequest { count.requests += 1 }
            count.running += 1
            state.counts[behaviour] = count
        }
    }

    private func finish(_ behaviour: EvilBehaviour) {
        state.update { $0.counts[behaviour, default: .init()].running -= 1 }
    }
}
