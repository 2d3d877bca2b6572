internal import GannetRedisClient

/// Lists and counts jobs without changing them, a part at a time.
extension FetchQueue {
    /// How many jobs or elements one call looks at.
    static let jobsAtOnce = 500

    /// The next selected jobs from a cursor on, `limit` at most. After `parts` parts the listing ends with what it has, and with a cursor.
    /// - Returns: `next` is `nil` at the end.
    package func jobs(
        _ selection: JobSelection, from cursor: JobCursor = JobCursor(), limit: Int, parts: Int = .max
    ) async throws(StateError) -> (jobs: [ListedJob], next: JobCursor?) {
        try await persistently {
            var jobs: [ListedJob] = []
            var next: JobCursor?
            if selection.state == .active {
                let all = try await active(selection)
                jobs = Array(all.dropFirst(cursor.element).prefix(limit))
                let end = cursor.element + jobs.count
                if end < all.count { next = JobCursor(partition: 0, element: end) }
            } else {
                var walk = JobWalk(self, selection, from: cursor)
                var looks = 0
                while jobs.count < limit, looks < parts, walk.next != nil {
                    looks += 1
                    jobs += try await walk.look(limit: limit - jobs.count).jobs
                }
                next = walk.next
            }
            try await complete(&jobs, areWaiting: selection.state == .ready || selection.state == .delayed)
            return (jobs, next)
        }
    }

    private static let mostHosts = 1000

    /// Adds the present to the jobs, the names of their batches, and when waiting jobs are given up. Of very many hosts only some are
    /// looked at.
    private func complete(_ jobs: inout [ListedJob], areWaiting: Bool) async throws {
        let batches = try await names(ofBatchesOf: jobs)
        let now = try await cluster.now()
        var hosts: [String: WaitingHost] = [:]
        var patience: WaitPatience?
        if areWaiting, !jobs.isEmpty {
            let names = Set(jobs.map(\.entry.host)).sorted().prefix(Self.mostHosts)
            patience = WaitPatience.longest(of: try await workers())
            for (name, standing) in try await standings(of: Array(names), at: now) {
                hosts[name] = WaitingHost(name, standing, at: now)
            }
        }
        for index in jobs.indices {
            let job = jobs[index]
            let own = job.putOffSince.flatMap { patience?.left(afterRests: .milliseconds(max(0, now - $0))) }
            let ofHost = hosts[job.entry.host].flatMap { patience?.left(of: $0) }
            jobs[index].listed = now
            jobs[index].batchName = batches[job.batch]
            jobs[index].givenUpWithin = [own, ofHost].compactMap(\.self).min()
        }
    }

    /// The names of the jobs' batches, by their numbers. A batch that is gone has none.
    private func names(ofBatchesOf jobs: [ListedJob]) async throws -> [Int: String] {
        let numbers = Set(jobs.map(\.batch)).sorted()
        let replies = await cluster.connection.pipeline(numbers.map { RedisCommand("HGET", cluster.home.keys.batch($0, of: name), "id") })
        var names: [Int: String] = [:]
        for (number, reply) in zip(numbers, replies) { names[number] = try reply.get().asOptionalString() }
        return names
    }

    /// How many jobs are selected, `limit` at most, and whether there may be more. They are counted in `parts` parts at most.
    package func count(
        _ selection: JobSelection, limit: Int = .max, parts: Int = .max
    ) async throws(StateError) -> (count: Int, isMore: Bool) {
        if selection.filter == JobFilter() {
            let count = max(0, try await counts()[selection.state])
            return (min(limit, count), count > limit)
        }
        return try await persistently {
            if selection.state == .active {
                let count = try await active(selection).count
                return (min(limit, count), count > limit)
            }
            var (count, looks) = (0, 0)
            var walk = JobWalk(self, selection, from: JobCursor())
            while count < limit, looks < parts, walk.next != nil {
                looks += 1
                count += try await walk.look(limit: limit - count).count
            }
            return (count, walk.next != nil)
        }
    }
}
