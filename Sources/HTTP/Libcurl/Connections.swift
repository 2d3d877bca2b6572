internal import GannetBase

/// The sockets libcurl has open, found by their two ends: libcurl tells the ends when a request is about to be sent, but not the socket.
final class Connections {
    /// Tells a connection from all others.
    struct Ends: Hashable {
        let localPort: UInt16
        let remotePort: UInt16
        let remote: String
    }

    private let poller: Poller
    private var sockets: [Ends: Int32] = [:]
    private var ends: [Int32: Ends] = [:]
    /// Connections that have carried HTTP/1, where no byte comes without a request.
    private var inTurn: Set<Ends> = []
    /// Sockets that were opened and not looked for since: until it is connected a socket has no ends.
    private var new: Set<Int32> = []

    private let stallGuard: StallGuard
    var idleBuffers = IdleBuffers()
    /// Nil where connections are not shared.
    var sharing: ConnectionSharing?

    init(_ poller: Poller, _ stallGuard: StallGuard) {
        self.poller = poller
        self.stallGuard = stallGuard
    }

    /// More connections than this are not kept for later requests.
    var most = 0
    private var open: Set<Int32> = []

    /// Whether a connection is to be closed when its transfer ends.
    ///
    /// libcurl has a limit of its own. But for each host it closes a connection to for that reason it keeps something, and it walks through
    /// all of that with each transfer.
    var isFull: Bool { open.count > most }

    func opened(_ socket: Int32) {
        // An older one of this number that was closed unnoticed.
        if open.contains(socket) { closed(socket) }
        open.insert(socket)
        new.insert(socket)
        stallGuard.opened(socket)
    }

    /// libcurl waits for the socket no longer. libcurl 7.88 does not tell that it closes a socket which could not be connected in time.
    func unwatched(_ socket: Int32) {
        if new.contains(socket), fcntl(socket, F_GETFD) < 0 { closed(socket) }
    }

    func closed(_ socket: Int32) {
        open.remove(socket)
        poller.forget(socket)
        stallGuard.closed(socket)
        new.remove(socket)
        idleBuffers.closed(socket)
        if let ends = ends.removeValue(forKey: socket) {
            sockets[ends] = nil
            sharing?.closed(ends)
            inTurn.remove(ends)
        }
    }

    /// Notes that an answer of HTTP/1 has come on a connection.
    func answersInTurn(_ ends: Ends) { inTurn.insert(ends) }

    func hasAnsweredInTurn(_ ends: Ends) -> Bool { inTurn.contains(ends) }

    /// Notes the connection that a transfer has got, if it is shared.
    func uses(_ ends: Ends, to origin: HostPort) {
        if sockets[ends] != nil { sharing?.uses(ends, to: origin) }
    }

    /// How many bytes have come on a connection and not been read.
    func unreadBytes(_ wanted: Ends) -> Int {
        if sockets[wanted] == nil { learnEnds() }
        var count: Int32 = 0
        guard let socket = sockets[wanted], ioctl(socket, UInt(FIONREAD), &count) == 0 else { return 0 }
        return Int(count)
    }

    /// A transfer sends its request under TLS.
    func asks(_ ends: Ends, _ id: UInt64) { if let socket = sockets[ends] { idleBuffers.asks(socket, id) } }

    /// How many bytes have been read from a connection so far; nil where the system does not tell.
    func readBytes(_ wanted: Ends) -> UInt64? { sockets[wanted].flatMap(StallGuard.bytesRead) }

    private func learnEnds() {
        for socket in new {
            guard let local = IPAddress.end(of: socket, getsockname), let remote = IPAddress.end(of: socket, getpeername) else { continue }
            let found = Ends(localPort: local.port, remotePort: remote.port, remote: remote.address.description)
            sockets[found] = socket
            ends[socket] = found
            new.remove(socket)
        }
    }
}
