internal import GannetRedisClient

/// Lists and counts jobs without changing them, a part at a time.
extension FetchQueue {
    /// How many jobs or elements one call looks at.
    static let jobsAtOnce = 500

    /// The next selected jobs from a cursor on, `limit` at most. After `parts` parts the listing ends with what it has, and with a cursor.
    package func jobs(
        _ selection: JobSelection, from cursor: JobCursor = JobCursor(), limit: Int, parts: Int = .max
    ) async throws(StateError) -> JobListing {
        try await persistently {
            if selection.state == .active {
                let position = cursor.element
                let all = try await active(selection).filter { selection.filter.lists($0.entry) }
                let jobs = Array(all.dropFirst(position).prefix(limit))
                let end = position + jobs.count
                let next = end < all.count ? JobCursor(partition: 0, element: end) : nil
                return JobListing(jobs: jobs, batches: try await names(ofBatchesOf: jobs), now: try await cluster.now(), next: next)
            }
            var (jobs, looks) = ([ListedJob](), 0)
            var walk = JobWalk(self, selection, from: cursor)
            while jobs.count < limit, looks < parts, walk.next != nil {
                looks += 1
                jobs += try await walk.look(limit: limit - jobs.count).jobs
            }
            var listing = JobListing(jobs: jobs, batches: try await names(ofBatchesOf: jobs), now: try await cluster.now(), next: walk.next)
            if selection.state == .ready || selection.state == .delayed { try await learnEnds(of: &listing) }
            return listing
        }
    }

    private static let mostHosts = 1000

    /// Learns when the waiting jobs of a listing are given up. Of very many hosts only some are looked at.
    private func learnEnds(of listing: inout JobListing) async throws {
        let hosts = Set(listing.jobs.map(\.entry.host)).sorted().prefix(Self.mostHosts)
        if hosts.isEmpty { return }
        let now = listing.now
        listing.patience = WaitPatience.longest(of: try await workers())
        for (name, standing) in try await standings(of: Array(hosts), at: now) {
            listing.hosts[name] = WaitingHost(name, standing, at: now)
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
                let count = try await active(selection).count { selection.filter.lists($0.entry) }
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
