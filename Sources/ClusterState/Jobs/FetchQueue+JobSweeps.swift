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
    /// Where the next call goes on; `nil` at the end.
    var next: Int?
}

/// Deletes jobs and puts jobs back, in many calls that each take little time.
extension FetchQueue {
    /// Deletes the selected jobs that exist now, `limit` at most. Deleted jobs count as cancelled, except for dead jobs, which count as
    /// failed already.
    package func delete(_ selection: JobSelection, limit: Int = .max) async throws(StateError) -> JobSweep {
        switch selection.state {
        case .active: throw .invalid("Jobs in flight cannot be deleted.")
        case .delayed, .dead: return try await sweep(selection, .delete, limit: min(limit, Self.mostJobs))
        case .ready, .parked: return try await deleteFromLists(selection, limit: min(limit, Self.mostJobs))
        }
    }

    /// Puts dead jobs back, and makes delayed jobs due now, `limit` at most.
    package func retry(_ selection: JobSelection, limit: Int = .max) async throws(StateError) -> JobSweep {
        guard selection.state == .dead || selection.state == .delayed else {
            throw .invalid("Jobs that are \(selection.state.rawValue) need no retry.")
        }
        return try await sweep(selection, .retry, limit: min(limit, Self.mostJobs))
    }

    /// More jobs than any Redis holds.
    static let mostJobs = 1 << 40

    private func sweep(_ selection: JobSelection, _ action: JobSweep.Action, limit: Int) async throws(StateError) -> JobSweep {
        let now = try await cluster.now()
        var sum = JobSweep()
        var cursor: Int? = 0
        while let from = cursor, sum.count < limit {
            let left = limit - sum.count
            // A call that is repeated after a lost reply finds the rest, and counts only the rest.
            let part = try await persistently {
                selection.state == .dead
                    ? try await sweepDead(from: from, selection.filter, action, diedUntil: now, limit: left)
                    : try await sweepDelayed(from: from, selection.filter, action, limit: left)
            }
            sum.count += part.count
            sum.stuck += part.stuck
            cursor = part.next
        }
        return sum
    }

    /// Goes through the lists until a round finds none of the jobs that were there at first. A job that moves to another list meanwhile may
    /// be missed once.
    private func deleteFromLists(_ selection: JobSelection, limit: Int) async throws(StateError) -> JobSweep {
        let now = try await cluster.now()
        var sum = JobSweep()
        var found = -1
        while found != 0, sum.count < limit {
            found = 0
            for list in try await persistently({ try await lists(of: selection.state, host: selection.filter.host) }) {
                var position: Int?
                repeat {
                    let left = limit - sum.count
                    if left == 0 { break }
                    let before = position
                    let part = try await persistently {
                        try await delete(from: list, before: before, selection.filter, enqueuedUntil: now, limit: left)
                    }
                    sum.count += part.count
                    found += part.count
                    position = part.next
                } while position != nil
            }
        }
        return sum
    }
}

/// The single calls. Each call is one transition, with exact counters before and after.
extension FetchQueue {
    /// How many elements may follow the deleted ones if the end of the list is to be rewritten.
    static let usualBehind = 500

    /// Deletes jobs of a list, from its end on.
    /// - Parameters:
    ///   - position: How many elements, counted from the head of the list, are still to be looked at; `nil` at first.
    ///   - latest: Jobs enqueued later, in queue time, are left alone.
    func delete(
        from list: JobList, before position: Int?, _ filter: JobFilter, enqueuedUntil latest: Int, limit: Int,
        looks: Int = jobsAtOnce, behind: Int = usualBehind
    ) async throws -> JobSweep {
        let reply = try await run(
            ClusterScripts.deleteFromLine,
            [
                .bytes(list.name), .integer(position ?? -1), .integer(looks), .string(filter.host ?? ""), .integer(latest), .integer(limit),
                .integer(behind),
            ])
        let fields = try reply.fields(2, of: "a deletion")
        let left = try fields[0].asInteger()
        return JobSweep(count: try fields[1].asInteger(), next: left == 0 ? nil : left)
    }

    /// Makes delayed jobs due now, or deletes them. The cursor 0 begins.
    func sweepDelayed(from cursor: Int, _ filter: JobFilter, _ action: JobSweep.Action, limit: Int) async throws -> JobSweep {
        try await sweep(
            run(
                ClusterScripts.sweepDelayed,
                [.integer(cursor), .integer(Self.jobsAtOnce), .string(filter.host ?? ""), .integer(limit), .string(action.rawValue)]))
    }

    /// Puts dead jobs back, or deletes them. The cursor 0 begins. Jobs given up after `latest` are left alone.
    func sweepDead(
        from cursor: Int, _ filter: JobFilter, _ action: JobSweep.Action, diedUntil latest: Int, limit: Int
    ) async throws -> JobSweep {
        try await sweep(
            run(
                ClusterScripts.sweepDead,
                [
                    .integer(cursor), .integer(Self.jobsAtOnce), .string(filter.host ?? ""), .integer(limit), .string(action.rawValue),
                    .string(filter.errorClass ?? ""), .integer(latest),
                ]))
    }

    private func sweep(_ reply: RedisReply) throws -> JobSweep {
        let fields = try reply.asArray()
        guard fields.count >= 2, let cursor = Int(try fields[0].asString()) else { throw RedisError.form(of: "jobs") }
        let stuck = fields.count > 2 ? try fields[2].asInteger() : 0
        return JobSweep(count: try fields[1].asInteger(), stuck: stuck, next: cursor == 0 ? nil : cursor)
    }
}
