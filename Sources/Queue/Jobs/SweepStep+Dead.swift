internal import GannetRedisClient

/// Dead jobs are records in a sorted set, and stand in no list.
extension SweepStep {
    /// Deletes dead jobs, or puts them back as if they came now. A job that is put back counts as failed no longer, and what was kept of its
    /// URL's failure is forgotten: it would be its outcome at once. A job whose batch was cancelled, or is not remembered, stays dead.
    mutating func changeDead(_ records: ArraySlice<(name: [UInt8], score: [UInt8])>) async throws {
        let dead = keys.dead(of: queue.name)
        let chosen = records.map { record in
            concerns(Int(String(decoding: record.score, as: UTF8.self)) ?? 0) ? reader.selected(dead: record.name) : nil
        }
        try await reader.learnBatches(of: chosen.compactMap { $0?.block.bytes })
        let isRetry = action == .retry
        let failures = try await failures(of: isRetry ? chosen : [])
        var origins = try await origins(of: isRetry ? chosen : [])
        // Somebody may have exported the batch, and it holds nothing then.
        for holding in origins.values.compactMap(\.holding) { _ = try await BlobStore(queue.cluster).hold(holding) }
        let now = try await queue.cluster.now(in: reader.partition)
        for (index, (record, job)) in zip(records, chosen).enumerated() {
            if isFull { break }
            done += 1
            guard let job else { continue }
            if isRetry, reader.state(ofBatch: job.block.batch) == nil {
                stuck += 1
                continue
            }
            commit.check(record.score, "ZSCORE", dead, .bytes(record.name))
            commit.write("ZREM", dead, .bytes(record.name))
            count += 1
            guard let origin = origins[job.block.batch] else { continue }
            if let (key, bytes) = failures[index] {
                commit.check(bytes, "GET", key)
                commit.write("DEL", key)
            }
            forgive(job)
            noteAgain(job)
            commit.write("RPUSH", keys.ready(origin.priority, of: queue.name), .bytes(job.block.bytes(enqueued: now)))
            if let ids = origin.ids { reopen(job.block.batch, ids) }
            origins[job.block.batch]?.ids = nil
        }
    }

    /// The end that the batch has listed for the job counts no more. The list may be long, so the end is not looked for there.
    private mutating func noteAgain(_ job: DeadJob) {
        guard let id = job.block.firstID else { return }
        let batch = keys.batch(job.block.batch, of: queue.name)
        commit.write("HINCRBY", batch, .bytes(EndsAgain.field(of: id)), 1)
        commit.write("HINCRBY", batch, .string(EndsAgain.total), 1)
    }

    /// The batch of a dead job.
    private struct Origin {
        let priority: Priority
        /// Nil where its bodies are a mere cache.
        let holding: HoldingBatch?
        /// How many finished ids a batch has that ended; `nil` while it is under way.
        var ids: [UInt8]?
    }

    /// The batches of dead jobs, those that were cancelled or are not remembered left out.
    private func origins(of jobs: [DeadJob?]) async throws -> [Int: Origin] {
        let numbers = Set(jobs.compactMap { $0?.block.batch }).filter { reader.state(ofBatch: $0) != nil }.sorted()
        let replies = try await queue.cluster.answers(
            to: numbers.map { RedisCommand("HMGET", keys.batch($0, of: queue.name), "priority", "ids", "id", "keeps") })
        var origins: [Int: Origin] = [:]
        for (number, reply) in zip(numbers, replies) {
            let fields = try reply.fields(4, of: "HMGET")
            guard let priority = Priority(number: (try? fields[0].asCount()) ?? Priority.normal.number) else { continue }
            let name = Keeping(text: try fields[3].asOptionalString()) == .cache ? nil : try fields[2].asOptionalString()
            let holding = name.map { HoldingBatch(queue: queue.name, batch: $0) }
            origins[number] = Origin(priority: priority, holding: holding, ids: try fields[1].asOptionalBytes())
        }
        return origins
    }

    /// A batch that had ended is under way again.
    private mutating func reopen(_ number: Int, _ ids: [UInt8]) {
        let batch = keys.batch(number, of: queue.name)
        commit.check(ids, "HGET", batch, "ids")
        commit.write("HDEL", batch, "ended", "ids")
        commit.count(-1, "kept", in: keys.queue(queue.name))
        commit.count(-(Int(String(decoding: ids, as: UTF8.self)) ?? 0), "keptIds", in: keys.queue(queue.name))
    }

    /// The kept outcomes of failures, by the positions of their jobs.
    private func failures(of jobs: [DeadJob?]) async throws -> [Int: (key: RedisArgument, bytes: [UInt8])] {
        let kept = jobs.enumerated().compactMap { index, job in job?.block.firstID.map { (index: index, key: keys.outcome($0)) } }
        var failures: [Int: (key: RedisArgument, bytes: [UInt8])] = [:]
        for (one, reply) in zip(kept, try await queue.cluster.answers(to: kept.map { RedisCommand("GET", $0.key) })) {
            if let bytes = try reply.asOptionalBytes(), URLOutcome(bytes)?.isNegative == true { failures[one.index] = (one.key, bytes) }
        }
        return failures
    }
}
