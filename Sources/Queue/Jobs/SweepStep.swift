internal import GannetRedisClient

/// One step of a sweep. It reads some elements by plain commands, decides, and carries all changes out at once, if none of these elements has
/// changed meanwhile.
struct SweepStep {
    var reader: JobReader
    let action: JobSweep.Action
    private let latest: Int
    private let looks: Int
    private let limit: Int
    var commit = Commit()

    /// Jobs that are changed, and those that could not be put back.
    var count = 0
    var stuck = 0

    /// How many of the things to look at were dealt with.
    var done = 0

    /// Elements of a list that stay behind the next part, and whether there is one.
    private(set) var behind = 0
    private(set) var isMore = false

    /// Elements that Redis goes over to find others.
    private var passed = 0

    /// Changes of the counters of batches, and of the queue alone.
    private var changes: [Int: [String: Int]] = [:]
    private var totals: [String: Int] = [:]

    private static let mostBytes = 1_000_000
    private static let mostPassed = 2_500_000

    /// - Parameter limit: How many jobs the step may change.
    init(of sweep: PartitionSweep, limit: Int) {
        (reader, action, latest, looks) = (sweep.reader, sweep.action, sweep.latest, sweep.looks)
        self.limit = limit
    }

    var queue: FetchQueue { reader.queue }
    var keys: Keys { reader.keys }
    var isFull: Bool { count == limit || commit.byteCount > Self.mostBytes || passed > Self.mostPassed }

    /// Whether jobs that were enqueued or given up at this time are meant.
    func concerns(_ time: Int) -> Bool { time <= latest }

    private mutating func count(_ by: Int, _ field: String, ofBatch number: Int) {
        changes[number, default: [:]][field, default: 0] += by
    }

    /// A failure that counts no more.
    mutating func forgive(_ job: DeadJob) {
        count(-1, "failed", ofBatch: job.block.batch)
        if job.error?.fields[.errorClass] == FailureCounts.disallowed { count(-1, "disallowed", ofBatch: job.block.batch) }
        totals[FailureCounts.field(of: job.error?.fields[.errorClass]), default: 0] -= 1
    }

    /// Answers whether the step was carried out. Jobs are counted where they were, and the step rests on their batches' being under way.
    mutating func carryOut() async throws -> Bool {
        for (number, fields) in changes.sorted(by: { $0.key < $1.key }) {
            let batch = keys.batch(number, of: queue.name)
            commit.check(reader.state(ofBatch: number) ?? [], "HGET", batch, "state")
            for (field, by) in fields.sorted(by: { $0.key < $1.key }) {
                for key in [batch, keys.queue(queue.name)] { commit.count(by, field, in: key) }
            }
        }
        for (field, by) in totals.sorted(by: { $0.key < $1.key }) { commit.count(by, field, in: keys.queue(queue.name)) }
        if commit.isEmpty { return true }
        commit.effect = .wakes(action == .retry ? count : 0)
        return try await commit.run(queue.cluster, in: reader.partition, queue: queue.checkedName())
    }
}

/// The jobs of lists.
extension SweepStep {
    /// Deletes the selected jobs of some elements of a list. Or these jobs are ready from now on, at the head of their priority, if they were
    /// delayed.
    /// - Parameters:
    ///   - part: The part of the list, which may be the list itself.
    ///   - behind: Elements at the part's end that an earlier step has left there.
    mutating func change(
        _ part: RedisArgument, of key: RedisArgument, in list: JobList, _ priority: Priority, behind: Int
    ) async throws {
        let replies = try await queue.cluster.answers(to: [
            RedisCommand("LLEN", part), RedisCommand("LRANGE", part, .integer(-behind - looks), .integer(-behind - 1)),
        ])
        let length = try replies[0].asInteger()
        let elements = try replies[1].asArray().map { try $0.asBytes() }
        try await reader.learnBatches(of: elements)
        let now = action == .retry ? try await queue.cluster.now(in: reader.partition) : 0
        self.behind = behind
        var trimmed = 0
        for element in elements.reversed() {
            isMore = isFull
            if isMore { break }
            let taken = taken(element, in: list, now: now)
            let rest = taken?.rest ?? element
            let index = self.behind + trimmed + 1
            // A tombstone with nothing behind it goes.
            let isTrimmed = self.behind == 0 && rest == Block.gone
            if taken != nil || isTrimmed { commit.check(element, "LINDEX", part, .integer(-index)) }
            if let taken { note(taken.jobs, of: taken.block, priority) }
            if isTrimmed {
                trimmed += 1
                continue
            }
            if taken != nil {
                commit.write("LSET", part, .integer(-index), .bytes(rest))
                passed += min(index, length - index)
            }
            self.behind += 1
        }
        if trimmed > 0 { commit.write("LTRIM", part, 0, .integer(-1 - trimmed)) }
        if isMore { return }
        isMore = elements.count == looks
        if trimmed > 0, !isMore, self.behind == 0, part == key { try await leave(list, priority, elements: trimmed, at: key) }
    }

    /// The selected jobs of an element, as many as the step has room for, and the bytes that stand in its place then. Nil where it stays as
    /// it is.
    private func taken(_ element: [UInt8], in list: JobList, now: Int) -> (block: Block, jobs: [Int], rest: [UInt8])? {
        guard let block = reader.selected(element, in: list), concerns(block.enqueued),
            action == .delete || (list.due(block) ?? 0) > now
        else { return nil }
        let jobs = reader.chosen(block, most: limit - count)
        if jobs.isEmpty { return nil }
        if jobs.count == block.count { return (block, jobs, Block.gone) }
        return block.bytes(ofJobs: (0..<block.count).filter { !jobs.contains($0) }).map { (block, jobs, $0) }
    }

    /// Jobs that end as cancelled, or delayed jobs that are ready.
    private mutating func note(_ jobs: [Int], of block: Block, _ priority: Priority) {
        if action == .delete {
            count(jobs.count, "cancelled", ofBatch: block.batch)
            let state = reader.selection.state
            if state != .ready { count(-jobs.count, state.rawValue, ofBatch: block.batch) }
        } else {
            guard let moved = block.bytes(ofJobs: jobs) else { return }
            count(-jobs.count, JobState.delayed.rawValue, ofBatch: block.batch)
            commit.write("LPUSH", keys.ready(priority, of: queue.name), .bytes(moved))
        }
        count += jobs.count
    }

    /// A list with nothing left has no timer any more. The next attempt of a URL that nobody follows is not made. The next exchange sees to a
    /// list that had several parts: the timer of a delay is due for that.
    private mutating func leave(_ list: JobList, _ priority: Priority, elements: Int, at key: RedisArgument) async throws {
        commit.check(Array("\(elements)".utf8), "LLEN", key)
        if case .ready = list { return }
        let names = LongList.names(of: key)
        let timers = keys.timers(priority, of: queue.name)
        if try await queue.cluster.answers(to: [RedisCommand("LLEN", names)])[0].asInteger() > 0 {
            if case .delayed = list { commit.write("ZADD", timers, 0, .bytes(list.member)) }
            return
        }
        commit.check(Array("0".utf8), "LLEN", names)
        commit.write("ZREM", timers, .bytes(list.member))
        guard let id = list.followedID,
            let bytes = try await queue.cluster.answers(to: [RedisCommand("HGET", keys.locks, .bytes(id))])[0].asOptionalBytes(),
            var lock = URLLock(bytes)
        else { return }
        lock.interested.removeAll { if case .queue(queue.name, _) = $0 { true } else { false } }
        commit.check(bytes, "HGET", keys.locks, .bytes(id))
        if lock.kind == .retry, lock.interested.isEmpty {
            commit.write("HDEL", keys.locks, .bytes(id))
        } else {
            commit.write("HSET", keys.locks, .bytes(id), .bytes(lock.bytes))
        }
    }

    /// The next attempts of URLs are due now, for all queues that follow them.
    mutating func makeDue(_ ids: ArraySlice<[UInt8]>) async throws {
        let now = try await queue.cluster.now(in: reader.partition)
        let replies = try await queue.cluster.answers(
            to: ids.flatMap { id in
                [RedisCommand("LINDEX", keys.followers(id, of: queue.name), 0), RedisCommand("HGET", keys.locks, .bytes(id))]
            })
        let found = try replies.map { try $0.asOptionalBytes() }
        try await reader.learnBatches(of: found.compactMap { $0 })
        for (index, id) in ids.enumerated() {
            if isFull { break }
            done += 1
            let list = JobList.followers(id: id)
            guard let first = found[2 * index], let bytes = found[2 * index + 1], let block = reader.selected(first, in: list),
                !reader.chosen(block, most: 1).isEmpty, var lock = URLLock(bytes), lock.kind == .retry, lock.began > now
            else { continue }
            lock.began = now
            commit.check(bytes, "HGET", keys.locks, .bytes(id))
            commit.write("HSET", keys.locks, .bytes(id), .bytes(lock.bytes))
            for follower in lock.followers {
                commit.write("ZADD", keys.timers(follower.priority, of: follower.queue), .integer(now), .bytes(list.member))
            }
            count += 1
        }
    }
}
