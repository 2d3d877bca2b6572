/// The buffers of transfers under TLS that wait for their answers: nothing needs them meanwhile. After the request libcurl still has one, and
/// after a session ticket OpenSSL has.
struct IdleBuffers {
    /// The sockets whose requests have no answer yet, with their transfers.
    private var waiting: [Int32: UInt64] = [:]
    /// The waiting sockets that had an event in this turn of the engine.
    private var touched: [Int32] = []

    /// A transfer sends its request.
    mutating func asks(_ socket: Int32, _ id: UInt64) {
        waiting[socket] = id
        touched.append(socket)
    }

    mutating func touch(_ socket: Int32) { if waiting[socket] != nil { touched.append(socket) } }

    mutating func closed(_ socket: Int32) { waiting[socket] = nil }

    /// To be called at the end of each turn.
    mutating func drop(_ poller: Poller, _ running: (UInt64) -> Transfer?) {
        if touched.isEmpty { return }
        for socket in touched {
            guard let transfer = waiting[socket].flatMap(running), let handle = transfer.handle, !transfer.state.hasAnswer else {
                waiting[socket] = nil
                continue
            }
            // Where something is left to send, an event of the socket follows.
            if poller.onlyReads(socket) { handle.dropIdleBuffers() }
        }
        touched.removeAll(keepingCapacity: true)
    }
}
