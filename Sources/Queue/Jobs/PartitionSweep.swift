internal import GannetRedisClient

/// A sweep over one partition: it reads the places in parts, decides, and replaces the exact elements that it has read.
///
/// Lists are gone through from their ends on, and elements are named by their distance from the end: claims take from the heads. The rest of a
/// block stays in its place. A tombstone stands for a whole block; tombstones at the end of a list go.
struct PartitionSweep {
    private var reader: JobReader
    private let action: JobSweep.Action
    private let latest: Int
    private let limit: Int
    private(set) var sum: JobSweep
    var looks = FetchQueue.jobsAtOnce

    /// - Parameters:
    ///   - sum: The effect of the sweep so far, in other partitions.
    ///   - latest: Jobs enqueued or given up later, in queue time, are left alone.
    ///   - limit: How many jobs at most, those of `sum` included.
    init(
        queue: FetchQueue, partition: Partition, _ selection: JobSelection, _ action: JobSweep.Action, after sum: JobSweep, latest: Int,
        limit: Int
    ) {
        reader = JobReader(queue, partition, selection)
        self.action = action
        self.sum = sum
        self.latest = latest
        self.limit = limit
    }

    private var queue: FetchQueue { reader.queue }
    private var keys: Keys { reader.keys }
    private var selection: JobSelection { reader.selection }
    private var left: Int { limit - sum.count }

    mutating func run() async throws(StateError) {
        if selection.state == .dead { return try await sweepDead() }
        // A job that moves to another list meanwhile may be missed. Jobs that an operator makes due stay where they are, and are found again.
        var before = -1
        while before != sum.count, left > 0 {
            before = sum.count
            for priority in Priority.allCases { try await sweep(priority) }
            if action == .retry { return }
        }
    }

    private mutating func sweep(_ priority: Priority) async throws(StateError) {
        if selection.state == .ready { try await change(in: .ready, of: priority) }
        var cursor = "0"
        repeat {
            let (next, found) = try await page(of: keys.timers(priority, of: queue.name), at: cursor)
            var places = found.map { JobPlace(timer: $0.name) }.filter(reader.mayConcern)
            if action == .retry {
                try await change(places) { try await $0.makingDue($1, &$2) }
                places.removeAll { if case .followers = $0 { true } else { false } }
            }
            for place in try await mayHold(places) { try await change(in: place, of: priority) }
            cursor = next
        } while cursor != "0" && left > 0
    }

    /// The places that may hold selected jobs. One job of a URL tells the host of all, and jobs that came back stand before all that follow.
    private func mayHold(_ places: [JobPlace]) async throws(StateError) -> [JobPlace] {
        try await queue.persistently {
            let end: RedisArgument = selection.state == .parked ? -1 : 0
            let ids = places.compactMap { if case .followers(let id) = $0 { id } else { nil as [UInt8]? } }
            let replies = try await reader.pipeline(
                ids.flatMap { id in
                    let list = keys.followers(id, of: queue.name)
                    return [RedisCommand("LINDEX", list, end), RedisCommand("LLEN", LongList.names(of: list))]
                })
            var others: Set<[UInt8]> = []
            for (index, id) in ids.enumerated() {
                guard let block = try replies[2 * index].asOptionalBytes().flatMap({ Block($0) }) else { continue }
                // All kinds may be in the parts of a long list.
                if try replies[2 * index + 1].asInteger() > 0 { continue }
                if block.followerState != selection.state || !reader.matchesHost(block) { others.insert(id) }
            }
            return places.filter { if case .followers(let id) = $0 { !others.contains(id) } else { true } }
        }
    }

    private mutating func sweepDead() async throws(StateError) {
        var cursor = "0"
        repeat {
            let (next, found) = try await page(of: keys.dead(of: queue.name), at: cursor)
            try await change(found) { try await $0.changingDead($1, &$2) }
            cursor = next
        } while cursor != "0" && left > 0
    }

    private func page(
        of key: RedisArgument, at cursor: String
    ) async throws(StateError) -> (next: String, found: [(name: [UInt8], score: [UInt8])]) {
        try await queue.persistently {
            let command = RedisCommand("ZSCAN", key, .string(cursor), "COUNT", .integer(looks))
            let page = try await queue.cluster.connection.send(command).fields(2, of: "ZSCAN")
            let items = try page[1].asArray().map { try $0.asBytes() }
            return (try page[0].asString(), stride(from: 0, to: items.count - 1, by: 2).map { (items[$0], items[$0 + 1]) })
        }
    }
}

extension PartitionSweep {
    private static let mostTries = 20

    /// Prepares a step and carries it out. Others may have changed the elements meanwhile: then it is prepared again. Answers `nil` where they
    /// do so all the time.
    private mutating func take(
        _ prepare: (PartitionSweep, inout SweepStep) async throws -> JobReader
    ) async throws(StateError) -> SweepStep? {
        let sweep = self
        for _ in 0..<Self.mostTries {
            let (isDone, step) = try await queue.persistently {
                var step = SweepStep(limit: sweep.left)
                let reader = try await prepare(sweep, &step)
                step.finish(reader)
                if step.commit.isEmpty { return (true, step) }
                step.commit.effect = .wakes(sweep.action == .retry ? step.count : 0)
                return (try await step.commit.run(reader.queue.cluster, in: reader.partition, queue: reader.queue.checkedName()), step)
            }
            if isDone {
                sum.count += step.count
                sum.stuck += step.stuck
                return step
            }
        }
        return nil
    }

    /// Changes things in steps, until all are dealt with.
    private mutating func change<Thing>(
        _ things: [Thing], _ prepare: (PartitionSweep, ArraySlice<Thing>, inout SweepStep) async throws -> JobReader
    ) async throws(StateError) {
        var rest = things[...]
        while !rest.isEmpty, left > 0 {
            let step = try await take { try await prepare($0, rest, &$1) }
            rest = rest.dropFirst(max(1, step?.done ?? 0))
        }
    }

    /// The next attempts of URLs are due now, for all queues that follow them.
    private func makingDue(_ places: ArraySlice<JobPlace>, _ step: inout SweepStep) async throws -> JobReader {
        var reader = reader
        let now = try await queue.cluster.now(in: reader.partition)
        let ids = places.map { if case .followers(let id) = $0 { id } else { nil as [UInt8]? } }
        let replies = try await reader.pipeline(
            ids.compactMap { $0 }.flatMap { id in
                [
                    RedisCommand("LINDEX", keys.followers(id, of: queue.name), 0),
                    RedisCommand("HGET", keys.locks, .bytes(id)),
                ]
            })
        var found = try replies.map { try $0.asOptionalBytes() }[...]
        try await reader.learnBatches(of: found.compactMap { $0 })
        for (place, id) in zip(places, ids) {
            if step.isFull { break }
            step.done += 1
            guard let id, let first = found.popFirst(), let bytes = found.popFirst(), let first, let bytes,
                let block = reader.selected(first, in: place), !reader.chosen(block, most: 1).isEmpty, var lock = URLLock(bytes),
                lock.kind == .retry, lock.began > now
            else { continue }
            lock.began = now
            step.commit.check(bytes, "HGET", keys.locks, .bytes(id))
            step.commit.write("HSET", keys.locks, .bytes(id), .bytes(lock.bytes))
            for follower in lock.followers {
                step.commit.write("ZADD", keys.timers(follower.priority, of: follower.queue), .integer(now), .bytes(place.member))
            }
            step.count += 1
        }
        return reader
    }
}

extension PartitionSweep {
    /// Deletes jobs of a list, from its end on. Or they are ready from now on, at the head of their priority, if they were delayed. A part that
    /// takes the place of the first meanwhile is met there.
    private mutating func change(in place: JobPlace, of priority: Priority) async throws(StateError) {
        guard let list = reader.list(of: place, priority) else { return }
        let parts = try await queue.persistently { try await queue.cluster.look(at: [list])[0].parts }
        for part in parts.reversed() {
            var (behind, isMore) = (0, true)
            while isMore, left > 0 {
                let from = behind
                let step = try await take { try await $0.changing(part.key, of: list, place, priority, behind: from, &$1) }
                (behind, isMore) = (step?.behind ?? 0, step?.isMore ?? false)
            }
        }
    }

    private func changing(
        _ list: RedisArgument, of whole: RedisArgument, _ place: JobPlace, _ priority: Priority, behind: Int,
        _ step: inout SweepStep
    ) async throws -> JobReader {
        var reader = reader
        let replies = try await reader.pipeline([
            RedisCommand("LLEN", list), RedisCommand("LRANGE", list, .integer(-behind - looks), .integer(-behind - 1)),
        ])
        let length = try replies[0].asInteger()
        let elements = try replies[1].asArray().map { try $0.asBytes() }
        try await reader.learnBatches(of: elements)
        let now = action == .retry ? try await queue.cluster.now(in: reader.partition) : 0
        step.behind = behind
        var trimmed = 0
        for element in elements.reversed() {
            step.isMore = step.isFull
            if step.isMore { break }
            let block = reader.selected(element, in: place).flatMap { mayChange($0, in: place, now) ? $0 : nil }
            let chosen = block.map { reader.chosen($0, most: step.left) } ?? []
            let rest: [UInt8]
            if let block, chosen.count == block.count {
                rest = Block.gone
            } else if let block, !chosen.isEmpty {
                rest = block.bytes(ofJobs: (0..<block.count).filter { !chosen.contains($0) }) ?? element
            } else {
                rest = element
            }
            let index = step.behind + trimmed + 1
            if rest != element || (rest == Block.gone && step.behind == 0) { step.commit.check(element, "LINDEX", list, .integer(-index)) }
            if let block, rest != element {
                if action == .delete {
                    step.cancel(chosen.count, of: block, in: selection.state)
                } else if let moved = block.bytes(ofJobs: chosen) {
                    step.hasten(chosen.count, of: block)
                    step.commit.write("LPUSH", keys.ready(priority, of: queue.name), .bytes(moved))
                }
            }
            if rest == Block.gone, step.behind == 0 {
                trimmed += 1
                continue
            }
            if rest != element {
                step.commit.write("LSET", list, .integer(-index), .bytes(rest))
                step.passed += min(index, length - index)
            }
            step.behind += 1
        }
        if trimmed > 0 { step.commit.write("LTRIM", list, 0, .integer(-1 - trimmed)) }
        if step.isMore { return reader }
        step.isMore = elements.count == looks
        if trimmed > 0, !step.isMore, step.behind == 0, list == whole {
            try await leave(place, priority, elements: trimmed, of: list, &step)
        }
        return reader
    }

    private func mayChange(_ block: Block, in place: JobPlace, _ now: Int) -> Bool {
        block.enqueued <= latest && (action == .delete || (place.due(block) ?? 0) > now)
    }

    /// A list with nothing left is no place any more. The next attempt of a URL that nobody follows is not made. The next exchange sees to a
    /// list that had several parts: the timer of a delay is due for that.
    private func leave(
        _ place: JobPlace, _ priority: Priority, elements: Int, of list: RedisArgument, _ step: inout SweepStep
    ) async throws {
        step.commit.check(Array("\(elements)".utf8), "LLEN", list)
        if case .ready = place { return }
        let names = LongList.names(of: list)
        let timers = keys.timers(priority, of: queue.name)
        if try await reader.pipeline([RedisCommand("LLEN", names)])[0].asInteger() > 0 {
            if case .delayed = place { step.commit.write("ZADD", timers, 0, .bytes(place.member)) }
            return
        }
        step.commit.check(Array("0".utf8), "LLEN", names)
        step.commit.write("ZREM", timers, .bytes(place.member))
        guard case .followers(let id) = place,
            let bytes = try await reader.pipeline([RedisCommand("HGET", keys.locks, .bytes(id))])[0].asOptionalBytes(),
            var lock = URLLock(bytes)
        else { return }
        lock.interested.removeAll { if case .queue(queue.name, _) = $0 { true } else { false } }
        step.commit.check(bytes, "HGET", keys.locks, .bytes(id))
        if lock.kind == .retry, lock.interested.isEmpty {
            step.commit.write("HDEL", keys.locks, .bytes(id))
        } else {
            step.commit.write("HSET", keys.locks, .bytes(id), .bytes(lock.bytes))
        }
    }
}

extension PartitionSweep {
    /// Deletes dead jobs, or puts them back as if they came now. A job that is put back counts as failed no longer, and what was kept of its
    /// URL's failure is forgotten: it would be its outcome at once. A job whose batch was cancelled, or is not remembered, stays dead.
    private func changingDead(_ records: ArraySlice<(name: [UInt8], score: [UInt8])>, _ step: inout SweepStep) async throws -> JobReader {
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
