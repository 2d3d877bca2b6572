/// Decides how many transfers to one origin libcurl may have under TLS, so that they share connections. It has no clock and does no IO.
///
/// libcurl opens a connection for each transfer that finds none with room. So a thousand transfers that begin together would make a thousand
/// handshakes, although HTTP/2 needs ten connections for them. A few go first here. The others wait until one of those has told which version
/// the origin speaks. With HTTP/2, as many go on as the open connections have room for, and a few to open more. With HTTP/1 all go on.
///
/// None waits longer than `patience`: the first ones may have met a silent host.
struct ConnectionSharing {
    enum Version {
        case one, two
    }

    /// Transfers that begin before the version is known, and new connections at a time when all streams are taken.
    static let pioneers = 4
    /// libcurl puts no more streams on a connection (`CURLMOPT_MAX_CONCURRENT_STREAMS`). An origin that permits fewer gets more connections.
    static let streams = 100
    static let patience = Duration.seconds(1)

    /// An origin with transfers or with open connections.
    private struct Entry {
        var version: Version?
        var connections = 0
        /// Transfers that libcurl has.
        var active = 0
        var waiting = WaitingQueue<UInt64>()

        var hasRoom: Bool {
            switch version {
            case nil: active < pioneers
            case .one: true
            case .two: active < connections * streams + max(pioneers, connections)
            }
        }
    }

    private var entries: [HostPort: Entry] = [:]
    private var origins: [Connections.Ends: HostPort] = [:]
    private var waiting: [UInt64: HostPort] = [:]
    private var due = DueQueue<UInt64>()
    /// Origins where a waiting transfer may have got room.
    private var changed: Set<HostPort> = []

    /// How many origins and connections it remembers.
    var size: Int { entries.count + origins.count }

    /// When `next` may name a transfer although nothing has happened.
    var deadline: ContinuousClock.Instant? { waiting.isEmpty ? nil : due.first?.due }

    /// Whether the transfer may begin. If not, it waits until `next` names it.
    mutating func admits(_ id: UInt64, to origin: HostPort, at now: ContinuousClock.Instant) -> Bool {
        if entries[origin, default: Entry()].hasRoom {
            entries[origin, default: Entry()].active += 1
            return true
        }
        entries[origin]?.waiting.append(id, id: id)
        waiting[id] = origin
        due.append((item: id, due: now + Self.patience), living: waiting.count) { [waiting] in waiting[$0.item] != nil }
        return false
    }

    /// A waiting transfer that may begin now.
    mutating func next(at now: ContinuousClock.Instant) -> UInt64? {
        while let id = due.popDue(at: now) {
            guard let origin = waiting.removeValue(forKey: id) else { continue }
            _ = entries[origin]?.waiting.remove(id)
            entries[origin]?.active += 1
            return id
        }
        while let origin = changed.first {
            if entries[origin]?.hasRoom == true, let id = entries[origin]?.waiting.popFirst() {
                waiting[id] = nil
                entries[origin]?.active += 1
                return id
            }
            changed.remove(origin)
        }
        return nil
    }

    /// A waiting transfer has ended.
    mutating func forget(_ id: UInt64) {
        guard let origin = waiting.removeValue(forKey: id) else { return }
        _ = entries[origin]?.waiting.remove(id)
        dropUnused(origin)
    }

    /// A transfer that was admitted has left libcurl.
    mutating func ended(to origin: HostPort) {
        entries[origin]?.active -= 1
        changed(origin)
        dropUnused(origin)
    }

    /// A transfer has an open connection.
    mutating func uses(_ ends: Connections.Ends, to origin: HostPort) {
        guard origins[ends] == nil, entries[origin] != nil else { return }
        origins[ends] = origin
        entries[origin]?.connections += 1
        changed(origin)
    }

    mutating func closed(_ ends: Connections.Ends) {
        guard let origin = origins.removeValue(forKey: ends) else { return }
        entries[origin]?.connections -= 1
        dropUnused(origin)
    }

    /// The origin has answered.
    mutating func answers(_ origin: HostPort, in version: Version) {
        guard entries[origin]?.version != version else { return }
        entries[origin]?.version = version
        changed(origin)
    }

    private mutating func changed(_ origin: HostPort) {
        if !waiting.isEmpty { changed.insert(origin) }
    }

    private mutating func dropUnused(_ origin: HostPort) {
        guard let entry = entries[origin], entry.active == 0, entry.connections == 0, entry.waiting.isEmpty else { return }
        entries[origin] = nil
    }
}
