internal import RedisClient

/// Lists, reads and cancels batches.
extension FetchQueue {
    private static let batchesAtOnce = 500

    /// The latest batches, newest first and at most `limit` of them, and the number of all batches that are remembered.
    package func batches(limit: Int) async throws(StateError) -> (batches: [Batch], total: Int) {
        let numbers = try await persistently {
            var numbers: Set<Int> = []
            try await cluster.scan("HSCAN", cluster.keys.batches(of: name)) { items in
                for (index, item) in items.enumerated() where !index.isMultiple(of: 2) {
                    if let number = Int(try item.asString()) { numbers.insert(number) }
                }
            }
            return numbers.sorted(by: >)
        }
        return (try await batches(Array(numbers.prefix(limit))), numbers.count)
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
                let commands = some.map { RedisCommand([.string("HMGET"), cluster.keys.batch($0, of: name)] + Batch.fields) }
                let replies = await cluster.connection.pipeline(cluster.clock + commands)
                let now = try ClusterState.now(replies)
                return try zip(some, replies.dropFirst(cluster.clock.count)).compactMap {
                    try Batch(number: $0, try $1.get(), now: now)
                }
            }
        }
        return batches
    }

    /// The number of a batch that was begun, while it is remembered.
    package func number(ofBatch name: String) async throws(StateError) -> Int? {
        try await persistently {
            let command = RedisCommand("HGET", cluster.keys.batches(of: self.name), .string(name))
            return try await cluster.connection.send(command).asOptionalString().flatMap { Int($0) }
        }
    }

    /// Ends the waiting jobs of a batch, and returns how many. Workers finish the jobs that they hold, and nobody retries those jobs.
    package func cancel(batch number: Int) async throws(StateError) -> Int {
        try await persistently {
            let ended = try await run(ClusterScripts.cancel, [.integer(number)]).asInteger()
            guard ended >= 0 else { throw StateError.unknownBatch }
            return ended
        }
    }

    /// Ends the waiting jobs of a batch; `nil` for an unknown one.
    package func cancel(batch name: String) async throws(StateError) -> Int? {
        guard let number = try await number(ofBatch: name) else { return nil }
        return try await cancel(batch: number)
    }

    /// How many jobs of a batch have ended with an outcome. Cancelled jobs have none.
    package func finishedCount(ofBatch number: Int) async throws(StateError) -> Int {
        try await persistently {
            try await cluster.connection.send(RedisCommand("LLEN", cluster.keys.finished(number, of: name))).asInteger()
        }
    }

    /// The URLs of ended jobs, in the order in which the jobs ended, from one position through another. A URL is listed once for each of
    /// its ended jobs.
    package func finished(ofBatch number: Int, from first: Int, through last: Int) async throws(StateError) -> [URLID] {
        try await persistently {
            let key = cluster.keys.finished(number, of: name)
            let reply = try await cluster.connection.send(RedisCommand("LRANGE", key, .integer(first), .integer(last)))
            return try reply.asArray().compactMap { URLID(try $0.asBytes()) }
        }
    }

    /// The outcomes of URLs, in the order of `ids`; `nil` for a URL without an outcome.
    package func outcomes(_ ids: [URLID]) async throws(StateError) -> [URLOutcome?] {
        try await persistently { try await cluster.outcomes(ids) }
    }
}
