internal import GannetBase
internal import GannetRedisClient

/// Counters and clocks that are no numbers, because another program has written to them. They are named, and nothing else is done to them.
extension Audit {
    /// As many bytes as `Scripts/Parts/clock.lua` writes.
    static let clockLength = 49

    /// Answers whether the scripts of the partition can run.
    mutating func lookAtClock(in partition: Partition) async throws -> Bool {
        let keys = partition.keys
        guard let clock = try await value("clock", of: keys.state), clock.count < Self.clockLength else { return true }
        add(.clockDamaged, "'clock' of '\(keys.tag)state'")
        return false
    }

    private func value(_ field: String, of key: RedisArgument) async throws -> [UInt8]? {
        try await state.connection.send(RedisCommand("HGET", key, .string(field))).asOptionalBytes()
    }

    /// The totals that are compared with jobs.
    private static let compared: Set = ["enqueued", "done", "failed", "cancelled"]

    /// The counters that are not.
    private static let lone =
        QueueCount.all.filter { $0.place == .totals && !compared.contains($0.name) }.map(\.name)
        + ["disallowed", "now", "kept", "keptIds", "walk", "mended", "turn"]

    /// Numbers of a batch that are not compared with jobs, and the values that they may have.
    private static let loneOfBatch: [(field: String, range: ClosedRange<Int>)] = [
        ("disallowed", .min ... .max), ("now", .min ... .max), ("ids", .min ... .max), ("maxAge", .min ... .max),
        ("priority", 1...Priority.allCases.count),
    ]

    mutating func lookAtCounters(of queue: String, in partition: Partition) async throws {
        let keys = partition.keys
        let reply = try await state.connection.send(RedisCommand("HGETALL", keys.queue(queue))).asArray()
        for (field, value) in reply.pairs {
            let field = try field.asString()
            guard Self.lone.contains(field) || field.hasPrefix("failed:") else { continue }
            if Int(inRedis: String(decoding: try value.asBytes(), as: UTF8.self)) != nil { continue }
            add(.counterDamaged, "'\(field)' of '\(keys.tag)q:\(queue):queue'")
        }
        let known = try await state.connection.send(RedisCommand("ZRANGE", keys.batches(of: queue), 0, -1, "WITHSCORES")).asArray()
        let numbers = try known.pairs.compactMap { Int(try $0.value.asString()) }
        let commands = numbers.map { number in
            RedisCommand([.string("HMGET"), keys.batch(number, of: queue)] + Self.loneOfBatch.map { .string($0.field) })
        }
        for (batch, reply) in zip(numbers, await state.connection.pipeline(commands)) {
            for (lone, value) in zip(Self.loneOfBatch, try reply.get().asArray()) {
                guard let text = try value.asOptionalString() else { continue }
                if let number = Int(inRedis: text), lone.range.contains(number) { continue }
                add(.counterDamaged, "'\(lone.field)' of '\(keys.tag)q:\(queue):batch:\(batch)'")
            }
        }
        if partition == state.home, let last = try await value("batches", of: keys.state), Int(String(decoding: last, as: UTF8.self)) == nil
        {
            // A number that a batch has must not be given again.
            add(.counterDamaged, "'batches' of '\(keys.tag)state', which is at least \(numbers.max() ?? 0)")
        }
    }

    /// Looks at the counters of the bodies. No script changes the bodies' index while one of the counters is no number.
    /// - Returns: Whether the counters can be read.
    mutating func lookAtCounters(of bodies: BlobStore, from partition: Partition) async throws -> Bool {
        let damaged = try await bodies.damagedCounters()
        // All partitions have these bodies.
        if partition == state.home {
            for name in damaged { add(.counterDamaged, name) }
        }
        return damaged.isEmpty
    }
}
