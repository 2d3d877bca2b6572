internal import RedisClient

/// Lists and counts jobs without changing them, a part at a time.
extension FetchQueue {
    /// How many jobs or elements one call looks at.
    static let jobsAtOnce = 500

    /// The next selected jobs from a cursor on, `limit` at most. After `parts` parts the listing ends with what it has, and with a cursor.
    package func jobs(
        _ selection: JobSelection, from cursor: JobCursor = JobCursor(), limit: Int, parts: Int = .max
    ) async throws(StateError) -> JobListing {
        try await persistently {
            var jobs: [ListedJob] = []
            var next: JobCursor? = cursor
            if selection.state == .active {
                let position = cursor.place[2]
                let all = try await active(selection).filter { selection.filter.lists($0.entry) }
                jobs = Array(all.dropFirst(position).prefix(limit))
                let end = position + jobs.count
                next = end < all.count ? JobCursor(partition: 0, place: [0, 0, end, 0, 0]) : nil
            } else {
                var looks = 0
                while jobs.count < limit, looks < parts, let from = next {
                    looks += 1
                    let part = try await look(at: selection, from: from, limit: limit - jobs.count)
                    jobs += part.jobs
                    next = part.next
                }
            }
            return JobListing(jobs: jobs, now: try await cluster.now(), next: next)
        }
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
            var next: JobCursor? = JobCursor()
            while count < limit, looks < parts, let from = next {
                looks += 1
                let part = try await look(at: selection, from: from, limit: limit - count)
                count += part.count
                next = part.next
            }
            return (count, next != nil)
        }
    }

    /// Looks at the next part of jobs that are not active. It may be empty without being the last. Jobs whose URL is not valid UTF-8 are counted
    /// and not listed.
    func look(
        at selection: JobSelection, from cursor: JobCursor, limit: Int
    ) async throws -> (jobs: [ListedJob], count: Int, next: JobCursor?) {
        guard cluster.partitions.indices.contains(cursor.partition) else { return ([], 0, nil) }
        _ = try checkedName()
        var page = JobPage(JobReader(self, cluster.partitions[cursor.partition], selection), limit: limit, looks: Self.jobsAtOnce)
        let place: [Int]?
        if selection.state == .dead {
            place = try await page.addDead(from: cursor.place[2]).map { [0, 0, $0, 0, 0] }
        } else {
            place = try await page.addWaiting(from: cursor.place)
        }
        let isLast = place == nil && cursor.partition + 1 == cluster.partitions.count
        let next = JobCursor(partition: place == nil ? cursor.partition + 1 : cursor.partition, place: place)
        return (page.jobs, page.count, isLast ? nil : next)
    }

    private static let processesAtOnce = 50
}
