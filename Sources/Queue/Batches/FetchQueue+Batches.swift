internal import GannetRedisClient

/// Lists, reads and cancels batches.
extension FetchQueue {
    private static let batchesAtOnce = 500

    /// The latest batches, newest first and at most `limit` of them, and the number of all batches that are remembered.
    package func batches(limit: Int) async throws(StateError) -> (batches: [Batch], total: Int) {
        let (numbers, total) = try await persistently {
            let total = try await cluster.connection.send(RedisCommand("ZCARD", cluster.home.keys.batches(of: name))).asInteger()
            return (limit > 0 ? try await newestBatches(limit) : [], total)
        }
        return (try await batches(numbers), total)
    }

    /// The numbers of the latest batches, newest first and at most `limit` of them.
    func newestBatches(_ limit: Int) async throws -> [Int] {
        let newest = RedisCommand("ZRANGE", cluster.home.keys.batches(of: name), 0, .integer(limit - 1), "REV", "WITHSCORES")
        let found = try await cluster.connection.send(newest).asArray()
        return try found.pairs.compactMap { Int(try $0.value.asString()) }
    }

    /// The batch of this name; `nil` for an unknown one.
    package func batch(named name: String) async throws(StateError) -> Batch? {
        guard let number = try await number(ofBatch: name) else { return nil }
        return try await batches([number]).first
    }

    /// The batches with these numbers, without batches that are gone.
    package func batches(_ numbers: [Int]) async throws(StateError) -> [Batch] {
        var batches: [Batch] = []
        for start in stride(from: 0, to: numbers.count, by: Self.batchesAtOnce) {
            let some = numbers[start..<min(numbers.count, start + Self.batchesAtOnce)]
            batches += try await persistently {
                var found: [[Batch?]] = []
                for partition in cluster.partitions {
                    let commands = some.map { RedisCommand([.string("HMGET"), partition.keys.batch($0, of: name)] + Batch.fields) }
                    let (now, records) = try await cluster.answers(to: commands, in: partition)
                    found.append(try zip(some, records).map { try Batch(number: $0, $1, now: now) })
                }
                return Batch.sums(of: found)
            }
        }
        return batches
    }

    /// The number of a batch that was begun, while it is remembered.
    package func number(ofBatch name: String) async throws(StateError) -> Int? {
        try await persistently {
            let command = RedisCommand("ZSCORE", cluster.home.keys.batches(of: self.name), .string(name))
            return try await cluster.connection.send(command).asOptionalString().flatMap { Int($0) }
        }
    }

    /// Ends the waiting jobs of a batch; `nil` for an unknown one.
    package func cancel(batch name: String) async throws(StateError) -> Int? {
        guard let number = try await number(ofBatch: name) else { return nil }
        return try await cancel(batch: number)
    }

    /// How many jobs of a batch have ended with an outcome, in each partition. Cancelled jobs have none.
    package func finishedCounts(ofBatch number: Int) async throws(StateError) -> [Int] {
        try await persistently {
            try await cluster.look(at: cluster.partitions.map { $0.keys.finished(number, of: name) }).map(\.length)
        }
    }

    /// The ended jobs of a partition, in the order in which they ended, from one position through another.
    package func finished(
        ofBatch number: Int, in partition: Partition, from first: Int, through last: Int
    ) async throws(StateError) -> [EndedJob] {
        try await persistently {
            let list = try await cluster.look(at: [partition.keys.finished(number, of: name)])[0]
            let replies = await cluster.connection.pipeline(list.reading(first..<max(first, last) + 1))
            return try replies.flatMap { try $0.get().asArray() }.compactMap { EndedJob(try $0.asBytes()) }
        }
    }

    /// How many of the listed ends count no more in each partition, because their jobs were tried again.
    package func endsAgain(ofBatch number: Int) async throws(StateError) -> [Int] {
        try await persistently {
            let commands = cluster.partitions.map {
                RedisCommand("HGET", $0.keys.batch(number, of: name), .string(EndsAgain.total))
            }
            return try await cluster.connection.pipeline(commands).map { try $0.get().asOptionalString().flatMap { Int($0) } ?? 0 }
        }
    }

    /// How many ends of each of these URLs count no more: as many of the first ones in the list.
    package func endsAgain(
        of ids: [URLID], ofBatch number: Int, in partition: Partition
    ) async throws(StateError) -> [URLID: Int] {
        try await persistently {
            let key = partition.keys.batch(number, of: name)
            let command = RedisCommand([.string("HMGET"), key] + ids.map { RedisArgument.bytes(EndsAgain.field(of: $0)) })
            let values = try await cluster.connection.send(command).fields(ids.count, of: "HMGET")
            var counts: [URLID: Int] = [:]
            for (id, value) in zip(ids, values) { counts[id] = try value.asOptionalString().flatMap { Int($0) } }
            return counts
        }
    }

    /// The outcomes of URLs of a partition, in the order of `ids`; `nil` for a URL without an outcome.
    package func outcomes(_ ids: [URLID], in partition: Partition) async throws(StateError) -> [URLOutcome?] {
        try await persistently { try await cluster.outcomes(ids, in: partition) }
    }
}

/// A job of a batch that has ended. A URL is listed once for each of its ended jobs.
package struct EndedJob: Sendable, Equatable {
    package let id: URLID
    /// The job's site did not permit it. The URL's outcome may be another job's, which was permitted or did not ask.
    package let isDisallowed: Bool

    fileprivate init?(_ element: [UInt8]) {
        guard let id = URLID(Array(element.prefix(URLID.count))), element.count <= URLID.count + 1 else { return nil }
        self.id = id
        isDisallowed = element.count > URLID.count
    }
}

/// Fields of a batch's hash about jobs that had ended and were tried again. The list of ended jobs has each of their ends.
enum EndsAgain {
    /// How many ends count no more.
    static let total = "again"

    /// How many ends of a URL count no more.
    static func field(of id: URLID) -> [UInt8] { Array("again:".utf8) + id.bytes }
}
