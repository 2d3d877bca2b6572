internal import GannetRedisClient

/// The effect of a sweep over jobs.
package struct JobSweep: Sendable, Equatable {
    enum Action {
        case retry, delete
    }

    /// Jobs that were deleted or put back.
    package var count = 0
    /// Jobs that could not be put back, because their batch was cancelled or is forgotten.
    package var stuck = 0
}

/// Deletes jobs and puts jobs back, in many calls that each take little time.
extension FetchQueue {
    /// Deletes the selected jobs that exist now, `limit` at most. Deleted jobs count as cancelled, except for dead jobs, which count as
    /// failed already.
    package func delete(_ selection: JobSelection, limit: Int = .max) async throws(StateError) -> JobSweep {
        guard selection.state != .active else { throw .invalid("Jobs in flight cannot be deleted.") }
        return try await sweep(selection, .delete, limit: limit)
    }

    /// Puts dead jobs back, and makes delayed jobs due now, `limit` at most.
    package func retry(_ selection: JobSelection, limit: Int = .max) async throws(StateError) -> JobSweep {
        guard selection.state == .dead || selection.state == .delayed else {
            throw .invalid("Jobs that are \(selection.state.rawValue) need no retry.")
        }
        return try await sweep(selection, .retry, limit: limit)
    }

    private func sweep(_ selection: JobSelection, _ action: JobSweep.Action, limit: Int) async throws(StateError) -> JobSweep {
        var sum = JobSweep()
        for partition in cluster.partitions {
            var done = sum
            do throws(StateError) {
                let latest = try await cluster.now(in: partition)
                var sweep = PartitionSweep(queue: self, partition: partition, selection, action, after: sum, latest: latest, limit: limit)
                defer { done = sweep.sum }
                try await sweep.run()
            } catch {
                guard done.count > 0 else { throw error }
                let jobs = "\(done.count) job\(done.count == 1 ? " was" : "s were") \(action == .delete ? "deleted" : "put back")"
                throw .partly("Before that \(jobs)." + (error.isTransient ? " Give the same command again for the rest." : ""), error)
            }
            sum = done
        }
        return sum
    }
}

/// The way of a sweep through one partition. It goes from list to list in many ``SweepStep``s.
///
/// A list is gone through from its end on, and an element is named by its distance from the end: claims take from the head. The rest of a
/// block stays in its place. A tombstone stands for a whole block; tombstones at the end of a list go.
struct PartitionSweep {
    let reader: JobReader
    let action: JobSweep.Action
    let latest: Int
    private let limit: Int
    private(set) var sum: JobSweep
    var looks = FetchQueue.jobsAtOnce

    private static let mostTries = 20

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
    private var state: JobState { reader.selection.state }
    private var left: Int { limit - sum.count }

    mutating func run() async throws(StateError) {
        if state == .dead {
            return try await forEachPage(of: keys.dead(of: queue.name)) { sweep, records async throws(StateError) in
                try await sweep.change(records) { try await $0.changeDead($1) }
            }
        }
        // A job that moves to another list meanwhile may be missed. Jobs that an operator makes due stay where they are, and are found again.
        var before = -1
        while before != sum.count, left > 0 {
            before = sum.count
            for priority in Priority.allCases { try await sweep(priority) }
            if action == .retry { return }
        }
    }

    private mutating func sweep(_ priority: Priority) async throws(StateError) {
        if state == .ready { try await change(in: .ready, of: priority) }
        try await forEachPage(of: keys.timers(priority, of: queue.name)) { sweep, timers async throws(StateError) in
            var lists = timers.map { JobList(timer: $0.name) }.filter(sweep.reader.mayConcern)
            if sweep.action == .retry {
                try await sweep.change(lists.compactMap(\.followedID)) { try await $0.makeDue($1) }
                lists.removeAll { $0.followedID != nil }
            }
            for list in try await sweep.mayHold(lists) { try await sweep.change(in: list, of: priority) }
        }
    }

    /// Goes through a sorted set, as long as there may be more to do.
    private mutating func forEachPage(
        of key: RedisArgument,
        _ body: (inout PartitionSweep, [(name: [UInt8], score: [UInt8])]) async throws(StateError) -> Void
    ) async throws(StateError) {
        var cursor = "0"
        repeat {
            let (members, next) = try await queue.persistently {
                let page = try await queue.cluster.page("ZSCAN", key, from: cursor, count: looks)
                return (try page.items.pairs.map { (name: try $0.name.asBytes(), score: try $0.value.asBytes()) }, page.next)
            }
            try await body(&self, members)
            cursor = next
        } while cursor != "0" && left > 0
    }

    /// The lists that may hold selected jobs. One job of a URL tells the host of all, and jobs that came back stand before all that follow.
    private func mayHold(_ lists: [JobList]) async throws(StateError) -> [JobList] {
        try await queue.persistently {
            let end: RedisArgument = state == .parked ? -1 : 0
            let ids = lists.compactMap(\.followedID)
            let replies = try await queue.cluster.answers(
                to: ids.flatMap { id in
                    let key = keys.followers(id, of: queue.name)
                    return [RedisCommand("LINDEX", key, end), RedisCommand("LLEN", LongList.names(of: key))]
                })
            var others: Set<[UInt8]> = []
            for (index, id) in ids.enumerated() {
                guard let block = try replies[2 * index].asOptionalBytes().flatMap({ Block($0) }) else { continue }
                // All kinds may be in the parts of a long list.
                if try replies[2 * index + 1].asInteger() > 0 { continue }
                if block.followerState != state || !reader.matchesHost(block) { others.insert(id) }
            }
            return lists.filter { list in !(list.followedID.map { others.contains($0) } ?? false) }
        }
    }

    /// Changes the jobs of a list, from its end on. A part that takes the place of the first meanwhile is met there.
    private mutating func change(in list: JobList, of priority: Priority) async throws(StateError) {
        guard let key = reader.key(of: list, priority) else { return }
        let parts = try await queue.persistently { try await queue.cluster.look(at: [key])[0].parts }
        for part in parts.reversed() {
            var (behind, isMore) = (0, true)
            while isMore, left > 0 {
                let from = behind
                let step = try await take { try await $0.change(part.key, of: key, in: list, priority, behind: from) }
                (behind, isMore) = (step?.behind ?? 0, step?.isMore ?? false)
            }
        }
    }

    /// Changes things in steps, until all are dealt with.
    private mutating func change<Thing>(
        _ things: [Thing], _ prepare: (inout SweepStep, ArraySlice<Thing>) async throws -> Void
    ) async throws(StateError) {
        var rest = things[...]
        while !rest.isEmpty, left > 0 {
            let some = rest
            let step = try await take { try await prepare(&$0, some) }
            rest = rest.dropFirst(max(1, step?.done ?? 0))
        }
    }

    /// Prepares a step and carries it out. Others may have changed the elements meanwhile: then it is prepared again. Answers `nil` where they
    /// do so all the time.
    private mutating func take(_ prepare: (inout SweepStep) async throws -> Void) async throws(StateError) -> SweepStep? {
        for _ in 0..<Self.mostTries {
            let (isDone, step) = try await queue.persistently {
                var step = SweepStep(of: self, limit: left)
                try await prepare(&step)
                return (try await step.carryOut(), step)
            }
            guard isDone else { continue }
            sum.count += step.count
            sum.stuck += step.stuck
            return step
        }
        return nil
    }
}
