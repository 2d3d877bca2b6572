/// Doing something about jobs, many at a time and never for long.
extension FetchQueue {
    /// Deletes the selected jobs, `limit` at most, as of now. Jobs that are in flight cannot be.
    package func delete(_ selection: JobSelection, limit: Int) async throws(StateError) -> JobSweep {
        switch selection.state {
        case .active: throw .invalid("Jobs in flight cannot be deleted.")
        case .delayed, .dead: return try await sweep(selection, .delete, limit: limit)
        case .ready, .parked: return try await deleteFromLists(selection, limit: limit)
        }
    }

    /// Puts the selected jobs back in line, `limit` at most: those given up by now, or those that wait for a time.
    package func retry(_ selection: JobSelection, limit: Int) async throws(StateError) -> JobSweep {
        guard selection.state == .dead || selection.state == .delayed else {
            throw .invalid("Jobs that are \(selection.state.rawValue) need no retry.")
        }
        return try await sweep(selection, .retry, limit: limit)
    }

    private func sweep(_ selection: JobSelection, _ action: QueueState.Action, limit: Int) async throws(StateError) -> JobSweep {
        let now = try await now()
        var sum = JobSweep()
        var cursor: Int? = 0
        while let from = cursor, sum.count < limit {
            let left = limit - sum.count
            // A repetition after a lost reply finds the rest, and counts that alone.
            let part = try await persistently { () throws(StateError) in
                selection.state == .dead
                    ? try await state.sweepDead(from: from, selection.filter, action, diedUntil: now, limit: left)
                    : try await state.sweepDelayed(from: from, selection.filter, action, limit: left)
            }
            sum.count += part.count
            sum.stuck += part.stuck
            cursor = part.next
        }
        return sum
    }

    /// Again and again until nothing is left of what was there at first: a job that changes its place meanwhile, from one list to another or
    /// back to the head of its own, may be missed once.
    private func deleteFromLists(_ selection: JobSelection, limit: Int) async throws(StateError) -> JobSweep {
        let now = try await now()
        var sum = JobSweep()
        var found = -1
        while found != 0, sum.count < limit {
            found = 0
            let lists = try await persistently { () throws(StateError) in
                try await state.lists(of: selection.state, host: selection.filter.host)
            }
            for list in lists {
                var position: Int?
                repeat {
                    let left = limit - sum.count
                    if left == 0 { break }
                    let before = position
                    let part = try await persistently { () throws(StateError) in
                        try await state.delete(from: list, before: before, selection.filter, enqueuedUntil: now, limit: left)
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

/// What came of a sweep over jobs.
package struct JobSweep: Sendable, Equatable {
    package var count = 0

    /// Jobs that could not be put back in line: their batch was cancelled, or is not remembered.
    package var stuck = 0
}
