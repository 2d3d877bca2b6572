internal import RedisClient

/// The effect of a sweep over jobs.
package struct JobSweep: Sendable, Equatable {
    package enum Action: String, Sendable {
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
        return try await sweep(selection, .delete, limit: min(limit, Self.mostJobs))
    }

    /// Puts dead jobs back, and makes delayed jobs due now, `limit` at most.
    package func retry(_ selection: JobSelection, limit: Int = .max) async throws(StateError) -> JobSweep {
        guard selection.state == .dead || selection.state == .delayed else {
            throw .invalid("Jobs that are \(selection.state.rawValue) need no retry.")
        }
        return try await sweep(selection, .retry, limit: min(limit, Self.mostJobs))
    }

    private func sweep(_ selection: JobSelection, _ action: JobSweep.Action, limit: Int) async throws(StateError) -> JobSweep {
        var sum = JobSweep()
        for partition in cluster.partitions {
            var sweep = PartitionSweep(queue: self, partition: partition, selection, action, latest: try await cluster.now(in: partition))
            try await sweep.run(&sum, limit: limit)
        }
        return sum
    }
}

/// A sweep over one partition.
struct PartitionSweep {
    private let queue: FetchQueue
    private let partition: Partition
    private let selection: JobSelection
    private let action: JobSweep.Action
    private let latest: Int
    var looks = FetchQueue.jobsAtOnce

    /// - Parameter latest: Jobs enqueued or given up later, in queue time, are left alone.
    init(queue: FetchQueue, partition: Partition, _ selection: JobSelection, _ action: JobSweep.Action, latest: Int) {
        self.queue = queue
        self.partition = partition
        self.selection = selection
        self.action = action
        self.latest = latest
    }

    mutating func run(_ sum: inout JobSweep, limit: Int) async throws(StateError) {
        if selection.state == .dead { return try await sweepDead(&sum, limit) }
        // A job that moves to another list meanwhile may be missed. Jobs that an operator makes due stay where they are, and are found again.
        var before = -1
        while before != sum.count, sum.count < limit {
            before = sum.count
            for priority in Priority.allCases { try await sweep(priority, &sum, limit) }
            if action == .retry { return }
        }
    }

    private func sweep(_ priority: Priority, _ sum: inout JobSweep, _ limit: Int) async throws(StateError) {
        if selection.state == .ready { try await sweep([[]], of: priority, &sum, limit) }
        var cursor = "0"
        repeat {
            let (next, places) = try await queue.persistently {
                let key = partition.keys.timers(priority, of: queue.name)
                let command = RedisCommand("ZSCAN", key, .string(cursor), "COUNT", .integer(FetchQueue.jobsAtOnce))
                let page = try await queue.cluster.connection.send(command).fields(2, of: "ZSCAN")
                let items = try page[1].asArray()
                return (try page[0].asString(), try stride(from: 0, to: items.count, by: 2).map { try items[$0].asBytes() })
            }
            try await sweep(places, of: priority, &sum, limit)
            cursor = next
        } while cursor != "0" && sum.count < limit
    }

    private func sweep(_ places: [[UInt8]], of priority: Priority, _ sum: inout JobSweep, _ limit: Int) async throws(StateError) {
        var left = places[...]
        var position = -1
        while !left.isEmpty, sum.count < limit {
            let part = try await call(priority: priority.number, position, left, limit - sum.count)
            sum.count += part.count
            left = left.dropFirst(part.done)
            position = part.position
        }
    }

    private func sweepDead(_ sum: inout JobSweep, _ limit: Int) async throws(StateError) {
        var cursor = 0
        repeat {
            let part = try await call(priority: 0, cursor, [], limit - sum.count)
            sum.count += part.count
            sum.stuck += part.stuck
            cursor = part.position
        } while cursor != 0 && sum.count < limit
    }

    /// One call. A call that is repeated after a lost reply finds the rest, and counts only the rest.
    private func call(
        priority: Int, _ position: Int, _ places: ArraySlice<[UInt8]>, _ limit: Int
    ) async throws(StateError) -> (count: Int, stuck: Int, done: Int, position: Int) {
        try await queue.persistently {
            let reply = try await queue.run(
                ClusterScripts.sweep, in: partition,
                selection.arguments + [.integer(limit), .integer(looks), .string(action.rawValue), .integer(latest), .integer(priority)]
                    + [.integer(position)] + places.map { .bytes($0) })
            let fields = try reply.fields(4, of: "a sweep").map { try $0.asInteger() }
            return (fields[0], fields[1], fields[2], fields[3])
        }
    }
}
