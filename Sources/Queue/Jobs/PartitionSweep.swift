internal import GannetRedisClient

/// A sweep over one partition: it reads the places in parts, decides, and replaces the exact elements that it has read.
///
/// Lists are gone through from their ends on, and elements are named by their distance from the end: claims take from the heads. The rest of a
/// block stays in its place. A tombstone stands for a whole block; tombstones at the end of a list go.
struct PartitionSweep {
    var reader: JobReader
    let action: JobSweep.Action
    let latest: Int
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

    var queue: FetchQueue { reader.queue }
    var keys: Keys { reader.keys }
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
                try await change(places.compactMap(\.followedID)) { try await $0.makingDue($1, &$2) }
                places.removeAll { $0.followedID != nil }
            }
            for place in try await mayHold(places) { try await change(in: place, of: priority) }
            cursor = next
        } while cursor != "0" && left > 0
    }

    /// The places that may hold selected jobs. One job of a URL tells the host of all, and jobs that came back stand before all that follow.
    private func mayHold(_ places: [JobPlace]) async throws(StateError) -> [JobPlace] {
        try await queue.persistently {
            let end: RedisArgument = selection.state == .parked ? -1 : 0
            let ids = places.compactMap(\.followedID)
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
            return places.filter { place in !(place.followedID.map { others.contains($0) } ?? false) }
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
    private func makingDue(_ ids: ArraySlice<[UInt8]>, _ step: inout SweepStep) async throws -> JobReader {
        var reader = reader
        let now = try await queue.cluster.now(in: reader.partition)
        let replies = try await reader.pipeline(
            ids.flatMap { id in
                [RedisCommand("LINDEX", keys.followers(id, of: queue.name), 0), RedisCommand("HGET", keys.locks, .bytes(id))]
            })
        let found = try replies.map { try $0.asOptionalBytes() }
        try await reader.learnBatches(of: found.compactMap { $0 })
        for (index, id) in ids.enumerated() {
            if step.isFull { break }
            step.done += 1
            let place = JobPlace.followers(id: id)
            guard let first = found[2 * index], let bytes = found[2 * index + 1], let block = reader.selected(first, in: place),
                !reader.chosen(block, most: 1).isEmpty, var lock = URLLock(bytes), lock.kind == .retry, lock.began > now
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

    /// Jobs that are taken out of an element of a list.
    private struct Taken {
        let block: Block
        let jobs: [Int]
        /// The bytes that stand in the element's place.
        let rest: [UInt8]
    }

    /// The selected jobs of an element, as many as the step has room for. Nil where it stays as it is.
    private func taken(_ element: [UInt8], in place: JobPlace, _ reader: JobReader, now: Int, most: Int) -> Taken? {
        guard let block = reader.selected(element, in: place), block.enqueued <= latest, action == .delete || (place.due(block) ?? 0) > now
        else { return nil }
        let jobs = reader.chosen(block, most: most)
        if jobs.isEmpty { return nil }
        if jobs.count == block.count { return Taken(block: block, jobs: jobs, rest: Block.gone) }
        return block.bytes(ofJobs: (0..<block.count).filter { !jobs.contains($0) }).map { Taken(block: block, jobs: jobs, rest: $0) }
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
            let taken = taken(element, in: place, reader, now: now, most: step.left)
            let index = step.behind + trimmed + 1
            let isTrimmed = step.behind == 0 && (taken?.rest ?? element) == Block.gone
            if taken != nil || isTrimmed { step.commit.check(element, "LINDEX", list, .integer(-index)) }
            if let taken {
                if action == .delete {
                    step.cancel(taken.jobs.count, of: taken.block, in: selection.state)
                } else if let moved = taken.block.bytes(ofJobs: taken.jobs) {
                    step.hasten(taken.jobs.count, of: taken.block)
                    step.commit.write("LPUSH", keys.ready(priority, of: queue.name), .bytes(moved))
                }
            }
            if isTrimmed {
                trimmed += 1
                continue
            }
            if let taken {
                step.commit.write("LSET", list, .integer(-index), .bytes(taken.rest))
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
        guard let id = place.followedID,
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
