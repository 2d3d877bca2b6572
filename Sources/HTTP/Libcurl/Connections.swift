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
    /// The sockets under TLS whose requests have no answer yet, with their transfers.
    var waiting: [Int32: UInt64] = [:]
    /// The waiting sockets that had an event in this turn of the engine.
    private var touched: [Int32] = []
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
        waiting[socket] = nil
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
    func uses(_ ends: Ends, to origin: ConnectionSharing.Origin) {
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
    func asks(_ ends: Ends, _ id: UInt64) {
        guard let socket = sockets[ends] else { return }
        waiting[socket] = id
        touched.append(socket)
    }

    func touch(_ socket: Int32) { if waiting[socket] != nil { touched.append(socket) } }

    func takeTouched() -> [Int32] {
        if touched.isEmpty { return [] }
        defer { touched.removeAll(keepingCapacity: true) }
        return touched
    }

    /// How many bytes have been read from a connection so far; nil where the system does not tell.
    func readBytes(_ wanted: Ends) -> UInt64? { sockets[wanted].flatMap(StallGuard.bytesRead) }

    private func learnEnds() {
        for socket in new {
            guard let local = Self.address(of: socket, getsockname), let remote = Self.address(of: socket, getpeername) else { continue }
            let found = Ends(localPort: local.port, remotePort: remote.port, remote: remote.address.description)
            sockets[found] = socket
            ends[socket] = found
            new.remove(socket)
        }
    }

    private static func address(
        of socket: Int32, _ ask: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
    ) -> (address: IPAddress, port: UInt16)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &storage) { bytes in
            guard ask(socket, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &length) == 0,
                let base = bytes.baseAddress, let address = IPAddress(socketAddress: base, length: Int(length))
            else { return nil }
            // The port stands in the same place for both families.
            return (address, UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        }
    }
}
