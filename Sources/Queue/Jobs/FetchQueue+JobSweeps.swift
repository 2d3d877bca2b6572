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
