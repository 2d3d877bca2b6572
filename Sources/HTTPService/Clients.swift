internal import GannetBasics

/// A connection of a client.
final class Client: Sendable {
    let descriptor: Int32
    let address: String

    init(descriptor: Int32, address: String) {
        self.descriptor = descriptor
        self.address = address
    }
}

/// The connections that are open. Connections that send no request for too long are closed. When many are open, the longest idle one makes
/// room.
final class Clients: Sendable {
    private let bounds: ClientBounds
    private let counts: HTTPServiceCounts
    private let table = Mutex<ClientTable>(ClientTable())

    init(_ bounds: ClientBounds, _ counts: HTTPServiceCounts) {
        self.bounds = bounds
        self.counts = counts
    }

    /// Whether the address has not its share of connections yet.
    func mayOpen(_ address: String) -> Bool {
        let mayOpen = table.withLock { $0.hasRoom(for: address, bounds) }
        if !mayOpen { counts.note { $0.refused += 1 } }
        return mayOpen
    }

    func opened(_ client: Client) {
        counts.note { counts in
            counts.connections += 1
            counts.accepted += 1
        }
        table.withLock { table in
            table.opened(client.descriptor, of: client.address, at: .now)
            close(table.tooMany(bounds))
        }
    }

    func began(_ client: Client) { table.withLock { $0.began(client.descriptor) } }

    func ended(_ client: Client) { table.withLock { $0.ended(client.descriptor, at: .now) } }

    func closed(_ client: Client) {
        table.withLock { $0.closed(client.descriptor, of: client.address) }
        counts.note { $0.connections -= 1 }
    }

    func closeOverdue() { table.withLock { close($0.overdue(bounds, at: .now)) } }

    /// Under the lock: libmicrohttpd closes a descriptor only after it has said so, and that waits for the lock.
    private func close(_ descriptors: [Int32]) {
        for descriptor in descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
        if !descriptors.isEmpty { counts.note { $0.closedIdle += descriptors.count } }
    }
}

struct ClientBounds: Sendable {
    /// The most connections at a time. When seven eighths are open, the idle ones make room.
    var connections = 128
    /// The most connections of one address; nil for no such bound.
    var each: Int?
    /// For how long a connection may send no whole head of a request: at its beginning, or after an answer.
    var withoutRequest = Duration.seconds(30)
}

/// The connections of each address, and when each connection had its last request. A struct without a clock.
struct ClientTable {
    typealias Instant = ContinuousClock.Instant

    /// Since when an idle connection waits for a request; nil while it has one.
    private var idleSince: [Int32: Instant?] = [:]
    /// The idle connections, the longest idle first. Entries that `idleSince` does not confirm are old.
    private var idle = Fifo<(descriptor: Int32, since: Instant)>()
    private var connections: [String: Int] = [:]

    var count: Int { idleSince.count }

    func hasRoom(for address: String, _ bounds: ClientBounds) -> Bool { bounds.each.map { connections[address, default: 0] < $0 } ?? true }

    mutating func opened(_ descriptor: Int32, of address: String = "", at now: Instant) {
        connections[address, default: 0] += 1
        ended(descriptor, at: now)
    }

    mutating func began(_ descriptor: Int32) { idleSince[descriptor] = .some(nil) }

    mutating func ended(_ descriptor: Int32, at now: Instant) {
        idleSince[descriptor] = now
        idle.append((descriptor, now))
        dropOld()
    }

    mutating func closed(_ descriptor: Int32, of address: String = "") {
        idleSince[descriptor] = nil
        let left = connections[address, default: 0] - 1
        connections[address] = left > 0 ? left : nil
    }

    /// The connections that have sent no request for too long. Each is named once.
    mutating func overdue(_ bounds: ClientBounds, at now: Instant) -> [Int32] {
        var due: [Int32] = []
        while let first = idle.first, first.since + bounds.withoutRequest <= now {
            _ = idle.popFirst()
            if isIdle(first) { due.append(first.descriptor) }
        }
        return due
    }

    /// The connection that makes room for a new one, if many are open.
    mutating func tooMany(_ bounds: ClientBounds) -> [Int32] {
        guard count > bounds.connections - bounds.connections / 8 else { return [] }
        while let first = idle.popFirst() {
            if isIdle(first) { return [first.descriptor] }
        }
        return []
    }

    private func isIdle(_ entry: (descriptor: Int32, since: Instant)) -> Bool { idleSince[entry.descriptor] == .some(entry.since) }

    /// A busy connection leaves an entry for each of its requests. The list stays within a small multiple of the connections.
    private mutating func dropOld() {
        guard idle.count > 64 + 4 * count else { return }
        let since = idleSince
        idle.filter { since[$0.descriptor] == .some($0.since) }
    }
}
