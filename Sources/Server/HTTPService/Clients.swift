internal import GannetBase

/// A connection of a client.
final class Client: Sendable {
    let descriptor: Int32
    let address: String
    /// The thread that serves it.
    let thread: ServerThread

    init(descriptor: Int32, address: String, _ thread: ServerThread) {
        self.descriptor = descriptor
        self.address = address
        self.thread = thread
    }

    /// Ends the connection from outside of libmicrohttpd, which sees that its client is gone.
    /// - Parameter word: An answer to send before that, where libmicrohttpd has none. Under TLS it is left out: only libmicrohttpd could encrypt it.
    func cut(saying word: [UInt8] = []) {
        if thread.core.options.tls == nil, !word.isEmpty { send(descriptor, word, word.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) }
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}

/// The connections that are open. Connections that send no request for too long are closed. When all are taken, or all of an address, the
/// longest idle one of them makes room for a new one.
final class Clients: Sendable {
    private let bounds: HTTPServiceOptions
    private let table = Mutex<ClientTable>(ClientTable())
    /// Ends when the last connection has been closed, once `drain` was called.
    private let (last, lastClosed) = AsyncStream.makeStream(of: Never.self)

    init(_ bounds: HTTPServiceOptions) { self.bounds = bounds }

    private var counts: HTTPServiceCounts { bounds.counts }

    /// Whether the address may have another connection. An idle one makes room for it where all are taken, or all of the address.
    func mayOpen(_ address: String) -> Bool {
        let mayOpen = table.withLock { table in
            guard !table.isEnding else { return false }
            switch table.makeRoom(for: address, bounds, at: .now, hasSent: Self.hasSent) {
            case .there: return true
            case .byClosing(let descriptor):
                close([descriptor])
                return true
            case .none: return false
            }
        }
        if !mayOpen { counts.note { $0.refused += 1 } }
        return mayOpen
    }

    /// Whether the client has sent something that this server has not read yet.
    private static func hasSent(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
    }

    func opened(_ client: Client) {
        counts.note { counts in
            counts.connections += 1
            counts.accepted += 1
        }
        table.withLock { $0.opened(client.descriptor, of: client.address, at: .now) }
    }

    /// Takes no further connections, and closes each one when it has no request. Returns when none is left, or its task is cancelled.
    func drain() async {
        let isLast = table.withLock { table in
            table.isEnding = true
            close(table.needless(bounds, at: .now, hasSent: Self.hasSent))
            return table.isEmpty
        }
        if isLast { lastClosed.finish() }
        for await _ in last {}
    }

    func began(_ client: Client) { table.withLock { $0.began(client.descriptor) } }

    func ended(_ client: Client) {
        table.withLock { table in
            table.ended(client.descriptor, at: .now)
            // The other connections were looked at when the end began. A look at all of them for each request that ends would cost too much.
            if table.isNeedless(client.descriptor, bounds, at: .now, hasSent: Self.hasSent) { close([client.descriptor]) }
        }
    }

    func closed(_ client: Client) {
        let isLast = table.withLock { table in
            table.closed(client.descriptor)
            return table.isEnding && table.isEmpty
        }
        counts.note { $0.connections -= 1 }
        if isLast { lastClosed.finish() }
    }

    func closeOverdue() {
        table.withLock { table in
            close(table.overdue(bounds, at: .now) + table.needless(bounds, at: .now, hasSent: Self.hasSent))
        }
    }

    /// Under the lock: libmicrohttpd closes a descriptor only after it has said so, and that waits for the lock.
    private func close(_ descriptors: [Int32]) {
        for descriptor in descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
        if !descriptors.isEmpty { counts.note { $0.closedIdle += descriptors.count } }
    }
}

/// The connections of each address, and since when each connection waits for a request. A struct without a clock.
struct ClientTable {
    typealias Instant = ContinuousClock.Instant

    /// Whether a new connection may be opened.
    enum Room: Equatable {
        case there
        /// This idle connection has to be closed. It counts no more.
        case byClosing(Int32)
        case none
    }

    private struct Connection {
        let address: String
        /// Since when it waits for a request; nil while it has one, or is being closed.
        var idleSince: Instant?
        var hadRequest = false
        var isClosing = false
    }

    private var open: [Int32: Connection] = [:]
    private var closing = 0
    /// The idle connections, the longest idle first. Entries that `open` does not confirm are old.
    private var idle = Fifo<(descriptor: Int32, since: Instant)>()
    /// How many connections of each address count.
    private var connections: [String: Int] = [:]

    /// No more connections are taken, and idle ones are needless.
    var isEnding = false

    var count: Int { open.count - closing }

    var isEmpty: Bool { open.isEmpty }

    mutating func opened(_ descriptor: Int32, of address: String = "", at now: Instant) {
        connections[address, default: 0] += 1
        open[descriptor] = Connection(address: address)
        becomesIdle(descriptor, at: now)
    }

    mutating func began(_ descriptor: Int32) {
        open[descriptor]?.idleSince = nil
        open[descriptor]?.hadRequest = true
    }

    mutating func ended(_ descriptor: Int32, at now: Instant) { becomesIdle(descriptor, at: now) }

    private mutating func becomesIdle(_ descriptor: Int32, at now: Instant) {
        guard let connection = open[descriptor], !connection.isClosing else { return }
        open[descriptor]?.idleSince = now
        idle.append((descriptor, now))
        dropOld()
    }

    mutating func closed(_ descriptor: Int32) {
        guard let connection = open.removeValue(forKey: descriptor) else { return }
        if connection.isClosing { closing -= 1 } else { leave(connection.address) }
    }

    private mutating func leave(_ address: String) {
        let left = connections[address, default: 0] - 1
        connections[address] = left > 0 ? left : nil
    }

    /// The connections that have sent no request for too long. Each is named once.
    mutating func overdue(_ bounds: HTTPServiceOptions, at now: Instant) -> [Int32] {
        var due: [Int32] = []
        while let first = idle.first, first.since + bounds.withoutRequest <= now {
            _ = idle.popFirst()
            if isIdle(first) {
                close(first.descriptor)
                due.append(first.descriptor)
            }
        }
        return due
    }

    /// The connections that are idle while the service ends. Each is named once.
    /// - Parameter hasSent: Whether bytes of a connection wait to be read.
    mutating func needless(_ bounds: HTTPServiceOptions, at now: Instant, hasSent: (Int32) -> Bool) -> [Int32] {
        guard isEnding else { return [] }
        var found: Set<Int32> = []
        idle.visit { entry in if mayClose(entry, bounds, at: now, hasSent) { found.insert(entry.descriptor) } }
        for descriptor in found { close(descriptor) }
        return Array(found)
    }

    /// Whether the connection is idle while the service ends. It is said once.
    mutating func isNeedless(_ descriptor: Int32, _ bounds: HTTPServiceOptions, at now: Instant, hasSent: (Int32) -> Bool) -> Bool {
        guard isEnding, let since = open[descriptor]?.idleSince, mayClose((descriptor, since), bounds, at: now, hasSent) else {
            return false
        }
        close(descriptor)
        return true
    }

    /// Makes room for a new connection of an address. An address that has its share gets room from its own connections alone.
    /// - Parameter hasSent: Whether bytes of a connection wait to be read. They may be a request, so it is not idle.
    mutating func makeRoom(for address: String = "", _ bounds: HTTPServiceOptions, at now: Instant, hasSent: (Int32) -> Bool) -> Room {
        let hasItsShare = bounds.each.map { connections[address, default: 0] >= $0 } ?? false
        guard hasItsShare || count >= bounds.connections else { return .there }
        var found: Int32?
        idle.visit { entry in
            guard found == nil, !hasItsShare || open[entry.descriptor]?.address == address else { return }
            if mayClose(entry, bounds, at: now, hasSent) { found = entry.descriptor }
        }
        guard let found else { return .none }
        close(found)
        return .byClosing(found)
    }

    /// Whether the connection is idle, and no request is on its way as far as one can see.
    private func mayClose(
        _ entry: (descriptor: Int32, since: Instant), _ bounds: HTTPServiceOptions, at now: Instant, _ hasSent: (Int32) -> Bool
    ) -> Bool {
        guard isIdle(entry), let connection = open[entry.descriptor] else { return false }
        let isFresh = !connection.hadRequest && entry.since + bounds.fresh > now
        return !isFresh && !hasSent(entry.descriptor)
    }

    private mutating func close(_ descriptor: Int32) {
        if let connection = open[descriptor] { leave(connection.address) }
        open[descriptor]?.idleSince = nil
        open[descriptor]?.isClosing = true
        closing += 1
    }

    private func isIdle(_ entry: (descriptor: Int32, since: Instant)) -> Bool { open[entry.descriptor]?.idleSince == entry.since }

    /// A busy connection leaves an entry for each of its requests. The list stays within a small multiple of the connections.
    private mutating func dropOld() {
        guard idle.count > 64 + 4 * open.count else { return }
        let open = open
        idle.filter { open[$0.descriptor]?.idleSince == $0.since }
    }
}
