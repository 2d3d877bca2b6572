internal import GannetBase
internal import GannetRedisClient

/// Counters and clocks that are no numbers, because another program has written to them. No script can go on with them.
extension Audit {
    /// As many bytes as `Scripts/Parts/clock.lua` writes.
    static let clockLength = 49

    /// Lease time is set back by this much before the first end of a lease. A worker that lives renews its lease in that time.
    private static let leaseMargin = 60_000

    /// Answers whether the scripts of the partition can run.
    mutating func lookAtClock(in partition: Partition) async throws -> Bool {
        let keys = partition.keys
        guard let clock = try await value("clock", of: keys.state), clock.count < Self.clockLength else { return true }
        if mends { try await setClock(of: keys) }
        add(.clockDamaged, "'clock' of '\(keys.tag)state'")
        return mends
    }

    /// Sets a clock that is no clock anew. Every script of the partition refuses to run meanwhile, so that nothing comes in between.
    ///
    /// Lease time has to go on before the ends of the leases: otherwise dead workers would keep their jobs for as long as Redis has run.
    private func setClock(of keys: Keys) async throws {
        let connection = state.connection
        let wall = try ClusterState.now([.success(try await connection.send(RedisCommand("TIME"), at: keys.state)), .success(.null)])
        let first = try await connection.send(RedisCommand("ZRANGE", keys.leases, "(0", "+inf", "BYSCORE", "LIMIT", 0, 1, "WITHSCORES"))
        let end = try first.asArray().last?.asOptionalString().flatMap { Int($0) } ?? 0
        var rules = 0
        var cursor = "0"
        repeat {
            let page = try await connection.send(RedisCommand("HSCAN", keys.hosts, .string(cursor), "MATCH", "=*", "COUNT", "500"))
                .fields(2, of: "HSCAN")
            rules += try page[1].asArray().count / 2
            cursor = try page[0].asString()
        } while cursor != "0"
        var clock: [UInt8] = []
        let lived = max(0, end - Self.leaseMargin)
        let fields = [(wall, 6), (0, 6), (lived, 6), (wall, 6), (0, 5), (0, 8), (0, 4), (rules, 2), (0, 6)]
        for (number, count) in fields { clock.append(number: number, count: count) }
        _ = try await connection.send(RedisCommand("HSET", keys.state, "clock", .bytes(clock)))
    }

    private func value(_ field: String, of key: RedisArgument) async throws -> [UInt8]? {
        try await state.connection.send(RedisCommand("HGET", key, .string(field))).asOptionalBytes()
    }

    /// The counters that are not compared with jobs. They begin again, where other counters do not tell their value.
    private static let lone = [
        "fetched", "revalidated", "cached", "retried", "crashed", "fenced", "doubleFetches", "bytes", "disallowed", "now", "kept",
        "keptIds",
        "walk", "mended", "turn",
    ]

    /// Numbers of a batch that are not compared with jobs, the values that they may have, and the value that scripts take without one.
    private static let loneOfBatch: [(field: String, range: ClosedRange<Int>, usual: Int)] = [
        ("disallowed", .min ... .max, 0), ("now", .min ... .max, 0), ("ids", .min ... .max, 0), ("maxAge", .min ... .max, -1),
        ("priority", 1...Priority.allCases.count, Priority.normal.number),
    ]

    /// The kinds of `done`.
    private static let kinds = ["fetched", "revalidated", "cached"]

    mutating func lookAtCounters(of queue: String, in partition: Partition) async throws {
        let keys = partition.keys
        let reply = try await state.connection.send(RedisCommand("HGETALL", keys.queue(queue))).asArray()
        var values: [String: [UInt8]] = [:]
        for index in stride(from: 0, to: reply.count - 1, by: 2) {
            let field = try reply[index].asString()
            if Self.lone.contains(field) || field == "done" || field.hasPrefix("failed:") { values[field] = try reply[index + 1].asBytes() }
        }
        func number(_ field: String) -> Int? { values[field].map { Int(inRedis: String(decoding: $0, as: UTF8.self)) } ?? 0 }
        let damaged = values.keys.filter { $0 != "done" && number($0) == nil }.sorted()
        for field in damaged {
            var value = 0
            let others = Self.kinds.filter { $0 != field }.map(number)
            if Self.kinds.contains(field), let done = number("done"), let one = others[0], let two = others[1] {
                value = max(0, done - one - two)
            }
            try await set(field, of: keys.queue(queue), to: value)
            add(.counterDamaged, "'\(field)' of '\(keys.tag)q:\(queue):queue'")
        }
        let known = try await state.connection.send(RedisCommand("ZRANGE", keys.batches(of: queue), 0, -1, "WITHSCORES")).asArray()
        let numbers = try stride(from: 1, to: known.count, by: 2).compactMap { Int(try known[$0].asString()) }
        let commands = numbers.map { number in
            RedisCommand([.string("HMGET"), keys.batch(number, of: queue)] + Self.loneOfBatch.map { .string($0.field) })
        }
        for (batch, reply) in zip(numbers, await state.connection.pipeline(commands)) {
            for (lone, value) in zip(Self.loneOfBatch, try reply.get().asArray()) {
                guard let text = try value.asOptionalString() else { continue }
                if let number = Int(inRedis: text), lone.range.contains(number) { continue }
                try await set(lone.field, of: keys.batch(batch, of: queue), to: lone.usual)
                add(.counterDamaged, "'\(lone.field)' of '\(keys.tag)q:\(queue):batch:\(batch)'")
            }
        }
        if partition == state.home, let last = try await value("batches", of: keys.state), Int(String(decoding: last, as: UTF8.self)) == nil
        {
            // A number that a batch has must not be given again.
            try await set("batches", of: keys.state, to: numbers.max() ?? 0)
            add(.counterDamaged, "'batches' of '\(keys.tag)state'")
        }
    }

    /// Looks at the counters of the bodies. No script changes the bodies' index while one of the counters is no number.
    /// - Returns: Whether the counters can be read.
    mutating func lookAtCounters(of bodies: BlobStore, from partition: Partition) async throws -> Bool {
        let damaged = mends ? try await bodies.countAnew() : try await bodies.damagedCounters()
        // All partitions have these bodies.
        if mends || partition == state.home {
            for name in damaged { add(.counterDamaged, name) }
        }
        return mends || damaged.isEmpty
    }

    /// Nothing else can change the field meanwhile: Redis adds to numbers only.
    private func set(_ field: String, of key: RedisArgument, to number: Int) async throws {
        if mends { _ = try await state.connection.send(RedisCommand("HSET", key, .string(field), .integer(number))) }
    }
}
