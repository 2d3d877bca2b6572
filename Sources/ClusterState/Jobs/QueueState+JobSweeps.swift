internal import RedisClient

/// Deleting jobs and putting them back in line, a part at a time. Each call is one transition, bounded, with counters exact before and after.
extension QueueState {
    /// How many elements may stand behind deleted ones for the end of a list to be written anew.
    static let usualBehind = 500

    package struct Sweep: Sendable, Equatable {
        /// Jobs that were deleted or put back.
        package var count: Int
        /// Those that could not be put back: their batch was cancelled, or is not remembered.
        package var stuck = 0
        /// Where to go on; `nil` at the end.
        package let next: Int?
    }

    /// Deletes jobs of a list, from its end on.
    /// - Parameters:
    ///   - position: How many elements before the end of the list are still to be looked at; `nil` at first.
    ///   - latest: Those enqueued later, in queue time, are left alone.
    package func delete(
        from list: JobList, before position: Int?, _ filter: JobFilter, enqueuedUntil latest: Int, limit: Int,
        looks: Int = jobsAtOnce, behind: Int = usualBehind
    ) async throws(StateError) -> Sweep {
        let reply = try await run(
            ClusterScripts.deleteFromLine,
            [
                .bytes(list.name), .integer(position ?? -1), .integer(looks), .string(filter.host ?? ""), .integer(latest), .integer(limit),
                .integer(behind),
            ])
        return try await StateError.wrapping { () throws(RedisError) in
            let fields = try reply.asArray()
            guard fields.count == 2 else { throw RedisError(.unexpectedReply, "a deletion in another form than expected") }
            let left = try fields[0].asInteger()
            return Sweep(count: try fields[1].asInteger(), next: left == 0 ? nil : left)
        }
    }

    /// What is done to jobs that are met.
    package enum Action: String, Sendable {
        case retry, delete
    }

    /// Makes jobs that wait for a time due now, or deletes them; 0 begins.
    package func sweepDelayed(
        from cursor: Int, _ filter: JobFilter, _ action: Action, limit: Int
    ) async throws(StateError) -> Sweep {
        let reply = try await run(
            ClusterScripts.sweepDelayed,
            [
                .integer(cursor), .integer(Self.jobsAtOnce), .string(filter.host ?? ""), .integer(limit), .string(action.rawValue),
            ])
        return try await readSweep(reply)
    }

    /// Puts given-up jobs back in line, or forgets them; 0 begins. Those given up after `latest` are left alone.
    package func sweepDead(
        from cursor: Int, _ filter: JobFilter, _ action: Action, diedUntil latest: Int, limit: Int
    ) async throws(StateError) -> Sweep {
        let reply = try await run(
            ClusterScripts.sweepDead,
            [
                .integer(cursor), .integer(Self.jobsAtOnce), .string(filter.host ?? ""), .integer(limit), .string(action.rawValue),
                .string(filter.errorClass ?? ""), .integer(latest),
            ])
        return try await readSweep(reply)
    }

    private func readSweep(_ reply: RedisReply) async throws(StateError) -> Sweep {
        try await StateError.wrapping { () throws(RedisError) in
            let fields = try reply.asArray()
            guard fields.count >= 2, let cursor = Int(try fields[0].asString()) else {
                throw RedisError(.unexpectedReply, "jobs in another form than expected")
            }
            let stuck = fields.count > 2 ? try fields[2].asInteger() : 0
            return Sweep(count: try fields[1].asInteger(), stuck: stuck, next: cursor == 0 ? nil : cursor)
        }
    }
}
