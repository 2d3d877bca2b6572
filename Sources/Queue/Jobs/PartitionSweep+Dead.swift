internal import GannetRedisClient

/// Dead jobs are records in a sorted set, and stand in no list.
extension PartitionSweep {
    /// Deletes dead jobs, or puts them back as if they came now. A job that is put back counts as failed no longer, and what was kept of its
    /// URL's failure is forgotten: it would be its outcome at once. A job whose batch was cancelled, or is not remembered, stays dead.
    func changingDead(_ records: ArraySlice<(name: [UInt8], score: [UInt8])>, _ step: inout SweepStep) async throws -> JobReader {
        let dead = keys.dead(of: queue.name)
        var reader = reader
        let chosen = records.map { record in
            (Int(String(decoding: record.score, as: UTF8.self)) ?? 0) <= latest ? reader.selected(dead: record.name) : nil
        }
        try await reader.learnBatches(of: chosen.compactMap { $0?.block.bytes })
        let outcomes = try await failures(of: action == .retry ? chosen : [])
        let retried = action == .retry ? chosen.filter { $0.flatMap { reader.state(ofBatch: $0.block.batch) } != nil } : []
        var origins = try await origins(of: retried)
        // Somebody may have exported the batch, and it holds nothing then.
        for holding in origins.values.compactMap(\.holding) { _ = try await BlobStore(queue.cluster).hold(holding) }
        let now = try await queue.cluster.now(in: reader.partition)
        for (index, (record, job)) in zip(records, chosen).enumerated() {
            if step.isFull { break }
            step.done += 1
            guard let job else { continue }
            if action == .retry, reader.state(ofBatch: job.block.batch) == nil {
                step.stuck += 1
                continue
            }
            step.commit.check(record.score, "ZSCORE", dead, .bytes(record.name))
            step.commit.write("ZREM", dead, .bytes(record.name))
            step.count += 1
            guard let origin = origins[job.block.batch] else { continue }
            if let (key, bytes) = outcomes[index] {
                step.commit.check(bytes, "GET", key)
                step.commit.write("DEL", key)
            }
            step.forgive(job)
            noteAgain(job, &step)
            step.commit.write("RPUSH", keys.ready(origin.priority, of: queue.name), .bytes(job.block.bytes(enqueued: now)))
            if let ids = origin.ids { reopen(job.block.batch, ids, &step) }
            origins[job.block.batch]?.ids = nil
        }
        return reader
    }

    /// The end that the batch has listed for the job counts no more. The list may be long, so the end is not looked for there.
    private func noteAgain(_ job: DeadJob, _ step: inout SweepStep) {
        guard let id = job.block.firstID else { return }
        let batch = keys.batch(job.block.batch, of: queue.name)
        step.commit.write("HINCRBY", batch, .bytes(EndsAgain.field(of: id)), 1)
        step.commit.write("HINCRBY", batch, .string(EndsAgain.total), 1)
    }

    /// The batch of a dead job.
    private struct Origin {
        let priority: Priority
        /// Nil where its bodies are a mere cache.
        let holding: HoldingBatch?
        /// How many finished ids a batch has that ended; `nil` while it is under way.
        var ids: [UInt8]?
    }

    private func origins(of jobs: [DeadJob?]) async throws -> [Int: Origin] {
        let numbers = Set(jobs.compactMap { $0?.block.batch }).sorted()
        let replies = try await reader.pipeline(
            numbers.map { RedisCommand("HMGET", keys.batch($0, of: queue.name), "priority", "ids", "id", "keeps") })
        var origins: [Int: Origin] = [:]
        for (index, number) in numbers.enumerated() {
            let fields = try replies[index].fields(4, of: "HMGET")
            guard let priority = Priority(number: (try? fields[0].asCount()) ?? Priority.normal.number) else { continue }
            let name = Keeping(text: try fields[3].asOptionalString()) == .cache ? nil : try fields[2].asOptionalString()
            let holding = name.map { HoldingBatch(queue: queue.name, batch: $0) }
            origins[number] = Origin(priority: priority, holding: holding, ids: try fields[1].asOptionalBytes())
        }
        return origins
    }

    /// A batch that had ended is under way again.
    private func reopen(_ number: Int, _ ids: [UInt8], _ step: inout SweepStep) {
        let batch = keys.batch(number, of: queue.name)
        step.commit.check(ids, "HGET", batch, "ids")
        step.commit.write("HDEL", batch, "ended", "ids")
        step.commit.count(-1, "kept", in: keys.queue(queue.name))
        step.commit.count(-(Int(String(decoding: ids, as: UTF8.self)) ?? 0), "keptIds", in: keys.queue(queue.name))
    }

    /// The kept outcomes of failures.
    private func failures(of jobs: [DeadJob?]) async throws -> [Int: (key: RedisArgument, bytes: [UInt8])] {
        var keys: [(index: Int, key: RedisArgument)] = []
        for (index, job) in jobs.enumerated() {
            if let id = job?.block.firstID { keys.append((index, self.keys.outcome(id))) }
        }
        var failures: [Int: (RedisArgument, [UInt8])] = [:]
        for ((index, key), reply) in zip(keys, try await reader.pipeline(keys.map { RedisCommand("GET", $0.key) })) {
            if let bytes = try reply.asOptionalBytes(), URLOutcome(bytes)?.isNegative == true { failures[index] = (key, bytes) }
        }
        return failures
    }
}
