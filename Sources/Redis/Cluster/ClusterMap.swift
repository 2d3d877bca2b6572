/// Which server of a Redis Cluster has which slots.
package struct ClusterMap: Sendable, Equatable {
    /// The primaries with slots, in the order of their first slot.
    package private(set) var primaries: [RedisAddress] = []
    /// For each slot the index of its primary, or -1.
    private var owners = [Int16](repeating: -1, count: HashSlot.count)

    /// A power of two. Few clusters have as many primaries.
    package static let usual = 64

    init() {}

    package func owner(of slot: HashSlot) -> RedisAddress? {
        let index = Int(owners[slot.number])
        return index < 0 ? nil : primaries[index]
    }

    /// Notes that a slot has another primary, as a server said in a `MOVED`.
    package mutating func move(_ slot: HashSlot, to primary: RedisAddress) { give(slot.number...slot.number, to: primary) }

    private mutating func give(_ slots: ClosedRange<Int>, to primary: RedisAddress) {
        let known = primaries.firstIndex(of: primary)
        // Only primaries without a slot make the list longer than the cluster. They are forgotten each time that the list has doubled, so
        // that a search in it stays short, and with as many primaries as slots at the latest.
        if known == nil, primaries.count >= Self.usual, primaries.count & (primaries.count - 1) == 0 { sort() }
        let index = known ?? primaries.endIndex
        if index == primaries.endIndex { primaries.append(primary) }
        for slot in slots { owners[slot] = Int16(index) }
    }

    /// Puts the primaries in their order, and forgets those without a slot.
    private mutating func sort() {
        var places = [Int16](repeating: -1, count: primaries.count)
        var sorted: [RedisAddress] = []
        for (slot, owner) in owners.enumerated() where owner >= 0 {
            if places[Int(owner)] < 0 {
                places[Int(owner)] = Int16(sorted.count)
                sorted.append(primaries[Int(owner)])
            }
            owners[slot] = places[Int(owner)]
        }
        primaries = sorted
    }
}

extension ClusterMap {
    /// Reads the answer to `CLUSTER SHARDS`, or to `CLUSTER SLOTS` before Redis 7.
    /// - Parameter asked: The server that answered. A server that does not know its own host's name is at the same host.
    package init(_ reply: RedisReply, from asked: RedisAddress) throws(RedisError) {
        for part in try reply.asArray() {
            let fields = try part.asArray()
            guard let first = fields.first else { continue }
            if case .integer = first { try read(range: fields, asked) } else { try read(shard: fields, asked) }
        }
        sort()
    }

    /// `[first slot, last slot, [host, port, …], replicas …]`
    private mutating func read(range fields: [RedisReply], _ asked: RedisAddress) throws(RedisError) {
        guard fields.count >= 3 else { throw Self.malformed }
        let node = try fields[2].asArray()
        guard node.count >= 2 else { throw Self.malformed }
        let primary = Self.address(try? node[0].asString(), try Self.port(try node[1].asInteger()), asked)
        give(try Self.range(try fields[0].asInteger(), try fields[1].asInteger()), to: primary)
    }

    /// `["slots", [first, last, …], "nodes", [["port", 6379, "endpoint", "10.0.0.1", "role", "master", "health", "online", …], …]]`
    private mutating func read(shard fields: [RedisReply], _ asked: RedisAddress) throws(RedisError) {
        let shard = Self.named(fields)
        guard let slots = try shard["slots"]?.asArray(), let nodes = try shard["nodes"]?.asArray() else { throw Self.malformed }
        if slots.isEmpty { return }
        let primaries = nodes.compactMap { try? Self.named($0.asArray()) }.filter { (try? $0["role"]?.asString()) == "master" }
        // After a failover the lost primary may still stand beside its successor.
        guard let primary = primaries.first(where: { (try? $0["health"]?.asString()) == "online" }) ?? primaries.first else { return }
        guard let port = try? primary[asked.hasTLS ? "tls-port" : "port"]?.asInteger() ?? primary["port"]?.asInteger() else {
            throw Self.malformed
        }
        let address = Self.address(try? (primary["endpoint"] ?? primary["ip"])?.asString(), try Self.port(port), asked)
        for index in stride(from: 0, to: slots.count - 1, by: 2) {
            give(try Self.range(try slots[index].asInteger(), try slots[index + 1].asInteger()), to: address)
        }
    }

    private static func named(_ fields: [RedisReply]) -> [String: RedisReply] {
        var values: [String: RedisReply] = [:]
        for index in stride(from: 0, to: fields.count - 1, by: 2) {
            if let name = try? fields[index].asString() { values[name] = fields[index + 1] }
        }
        return values
    }

    private static func port(_ number: Int) throws(RedisError) -> Int {
        guard RedisAddress.ports.contains(number) else { throw malformed }
        return number
    }

    private static func range(_ first: Int, _ last: Int) throws(RedisError) -> ClosedRange<Int> {
        guard first >= 0, first <= last, last < HashSlot.count else { throw malformed }
        return first...last
    }

    /// The address of a node, as a server wrote it. Without a host it is at the server's own.
    static func address(_ host: String?, _ port: Int, _ asked: RedisAddress) -> RedisAddress {
        let named = host.flatMap { ["", "?"].contains($0) ? nil : $0 }
        switch asked {
        case .tcp(let own, _, let tls): return .tcp(host: named ?? own, port: port, tls: tls)
        case .unix, .sentinel: return .tcp(host: named ?? "127.0.0.1", port: port, tls: false)
        }
    }

    private static let malformed = RedisError(.unexpectedReply, "The server's map of its cluster is malformed.")
}
