internal import ClusterState

/// Jobs where they lie.
extension Cluster {
    /// Some of the jobs, `limit` at most, behind those of the page with this cursor.
    /// - Throws: A usage error for a cursor that is none.
    package func jobs(_ query: JobQuery, after cursor: String? = nil, limit: Int) async throws(ClusterError) -> JobListing {
        var begin = JobCursor()
        if let cursor {
            guard let read = JobCursor(cursor) else { throw ClusterError(.usage, "This is no cursor of an earlier listing.") }
            begin = read
        }
        return try await ClusterError.wrapping { () throws(StateError) in
            let page = try await queue(query.queue).jobs(query.selection, from: begin, limit: limit)
            return JobListing(jobs: page.jobs.map { JobSummary($0, query.state, now: page.now) }, cursor: page.next?.text)
        }
    }

    /// How many jobs there are of these, `limit` at most.
    package func count(_ query: JobQuery, limit: Int = .max) async throws(ClusterError) -> Int {
        try await ClusterError.wrapping { () throws(StateError) in
            try await queue(query.queue).count(query.selection, limit: min(limit, Self.mostJobs))
        }
    }

    /// Deletes jobs, `limit` at most; they count as cancelled, but for dead ones, which have failed already.
    package func delete(_ query: JobQuery, limit: Int = .max) async throws(ClusterError) -> JobChange {
        try await ClusterError.wrapping { () throws(StateError) in
            let sweep = try await queue(query.queue).delete(query.selection, limit: min(limit, Self.mostJobs))
            return JobChange(count: sweep.count, stuck: sweep.stuck)
        }
    }

    /// Puts dead jobs back in line, and makes delayed ones due now, `limit` at most.
    package func retry(_ query: JobQuery, limit: Int = .max) async throws(ClusterError) -> JobChange {
        try await ClusterError.wrapping { () throws(StateError) in
            let sweep = try await queue(query.queue).retry(query.selection, limit: min(limit, Self.mostJobs))
            return JobChange(count: sweep.count, stuck: sweep.stuck)
        }
    }

    /// More than any Redis holds.
    private static let mostJobs = 1 << 40
}
