internal import RedisClient

/// Batches as somebody looks at them.
extension QueueState {
    /// Names and numbers of all batches that are remembered, the latest first.
    package func batches() async throws(StateError) -> [(name: String, number: Int)] {
        var found: [Int: String] = [:]
        var cursor = "0"
        repeat {
            let reply = try await cluster.send(
                RedisCommand("HSCAN", cluster.keys.batches(of: name), .string(cursor), "COUNT", .integer(Self.batchesAtOnce)))
            let page = try await StateError.wrapping { () throws(RedisError) in
                let fields = try reply.asArray()
                guard fields.count == 2 else { throw RedisError(.unexpectedReply, "HSCAN in another form than expected") }
                let items = try fields[1].asArray()
                for index in stride(from: 0, to: items.count - 1, by: 2) {
                    if let number = Int(try items[index + 1].asString()) { found[number] = try items[index].asString() }
                }
                return try fields[0].asString()
            }
            cursor = page
        } while cursor != "0"
        return found.sorted { $0.key > $1.key }.map { ($0.value, $0.key) }
    }

    /// What is kept of these batches; those that are gone are left out.
    package func records(ofBatches numbers: [Int]) async throws(StateError) -> [BatchRecord] {
        var records: [BatchRecord] = []
        for start in stride(from: 0, to: numbers.count, by: Self.batchesAtOnce) {
            let some = numbers[start..<min(numbers.count, start + Self.batchesAtOnce)]
            let commands = some.map { RedisCommand([.string("HMGET"), cluster.keys.batch($0, of: name)] + BatchRecord.fields) }
            let replies = await cluster.connection.pipeline(commands)
            try await StateError.wrapping { () throws(RedisError) in
                for (number, reply) in zip(some, replies) {
                    if let record = try BatchRecord(number: number, try reply.get()) { records.append(record) }
                }
            }
        }
        return records
    }

    private static let batchesAtOnce = 500
}

extension ClusterState {
    /// Queue time, ms.
    package func now() async throws(StateError) -> Int {
        let replies = await connection.pipeline([RedisCommand("TIME"), RedisCommand("HMGET", keys.state, "seen", "shift")])
        return try await StateError.wrapping { () throws(RedisError) in
            let time = try replies[0].get().asArray()
            let stored = try replies[1].get().asArray()
            guard time.count == 2, stored.count == 2, let seconds = Int(try time[0].asString()), let micros = Int(try time[1].asString())
            else { throw RedisError(.unexpectedReply, "TIME in another form than expected") }
            // Set back, the clock stands where it was last seen, as it does for every script.
            return max(seconds * 1000 + micros / 1000, try stored[0].asCount()) + (try stored[1].asCount())
        }
    }
}
