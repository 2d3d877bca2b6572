import GannetRedisClient

/// Every key of a namespace with its value. The form is the same for the same state, and can be read where it differs. The namespace's own
/// name, which is a part of channels, is left out.
struct StateDump: Sendable, Equatable {
    /// Values by the key's name after the namespace. A hash's fields and a set's members are in order.
    var values: [String: [String]] = [:]

    /// The differences from `other`, a line for each key.
    func differences(from other: StateDump) -> [String] {
        Set(values.keys).union(other.values.keys).sorted().compactMap { key in
            let (mine, theirs) = (values[key], other.values[key])
            return mine == theirs ? nil : "\(key): \(theirs ?? ["nothing"]) -> \(mine ?? ["nothing"])"
        }
    }

    /// A copy without these fields of one hash.
    func without(_ fields: [String], of key: String) -> StateDump {
        var copy = self
        copy.values[key]?.removeAll { value in fields.contains { value.hasPrefix("\($0)=") } }
        return copy
    }
}

extension StateDump {
    init(_ redis: RedisConnection, namespace: String) async throws {
        let prefix = "{\(namespace)}"
        var keys: [[UInt8]] = []
        for key in try await redis.send(RedisCommand("KEYS", .string(prefix + "*"))).asArray() { keys.append(try key.asBytes()) }
        let types = await redis.pipeline(keys.map { RedisCommand("TYPE", .bytes($0)) })
        var reads: [(type: String, command: RedisCommand)] = []
        for (key, type) in zip(keys, types) { reads.append(Self.read(.bytes(key), try type.get().asString())) }
        let replies = await redis.pipeline(reads.map(\.command))
        for (index, reply) in replies.enumerated() {
            let value = try reply.get()
            values[Self.shown(Array(keys[index].dropFirst(prefix.utf8.count)))] = try Self.lines(reads[index].type, value).map {
                $0.replacing(prefix, with: "{}")
            }
        }
    }

    private static func read(_ key: RedisArgument, _ type: String) -> (String, RedisCommand) {
        switch type {
        case "string": (type, RedisCommand("GET", key))
        case "list": (type, RedisCommand("LRANGE", key, "0", "-1"))
        case "hash": (type, RedisCommand("HGETALL", key))
        case "set": (type, RedisCommand("SMEMBERS", key))
        default: (type, RedisCommand("ZRANGE", key, "0", "-1", "WITHSCORES"))
        }
    }

    private static func lines(_ type: String, _ reply: RedisReply) throws -> [String] {
        if type == "string" { return [shown(try reply.asBytes())] }
        var items: [String] = []
        for item in try reply.asArray() { items.append(shown(try item.asBytes())) }
        switch type {
        case "list": return items
        case "set": return items.sorted()
        default: return stride(from: 0, to: items.count, by: 2).map { "\(items[$0])=\(items[$0 + 1])" }.sorted()
        }
    }

    /// Text as it is, anything else as its bytes.
    static func shown(_ bytes: [UInt8]) -> String {
        bytes.map { (0x20..<0x7f).contains($0) && $0 != UInt8(ascii: "\\") ? String(UnicodeScalar($0)) : "\\\($0)" }.joined()
    }
}

extension QueueFixture {
    func dump() async throws -> StateDump { try await StateDump(redis, namespace: namespace) }
}
