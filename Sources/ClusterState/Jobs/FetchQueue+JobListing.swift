internal import RedisClient

/// Lists and counts jobs without changing them, a part at a time.
extension FetchQueue {
    /// How many jobs or elements one call looks at.
    static let jobsAtOnce = 500

    /// More jobs than any Redis holds.
    static let mostJobs = 1 << 40

    /// The next selected jobs from a cursor on, `limit` at most.
    package func jobs(_ selection: JobSelection, from cursor: JobCursor = JobCursor(), limit: Int) async throws(StateError) -> JobListing {
        try await persistently {
            var jobs: [ListedJob] = []
            var next: JobCursor? = cursor
            if selection.state == .active {
                let position = cursor.place[2]
                let all = try await active(selection)
                jobs = Array(all.dropFirst(position).prefix(limit))
                let end = position + jobs.count
                next = end < all.count ? JobCursor(partition: 0, place: [0, 0, end, 0, 0]) : nil
            } else {
                while jobs.count < limit, let from = next {
                    let part = try await look(at: selection, from: from, limit: limit - jobs.count)
                    jobs += part.jobs
                    next = part.next
                }
            }
            return JobListing(jobs: jobs, now: try await cluster.now(), next: next)
        }
    }

    /// How many jobs are selected, `limit` at most.
    package func count(_ selection: JobSelection, limit: Int = .max) async throws(StateError) -> Int {
        try await persistently {
            let limit = min(limit, Self.mostJobs)
            var count = 0
            var next: JobCursor? = JobCursor()
            while count < limit, let from = next {
                let part = try await look(at: selection, from: from, limit: limit - count, counting: true)
                count += part.count
                next = part.next
            }
            return min(count, limit)
        }
    }

    /// All active jobs, the oldest first. There are no more of them than the workers have places.
    private func active(_ selection: JobSelection) async throws -> [ListedJob] {
        var jobs: [ListedJob] = []
        var next: JobCursor? = JobCursor()
        while let from = next {
            let part = try await look(at: selection, from: from, limit: Self.mostJobs)
            jobs += part.jobs
            next = part.next
        }
        return jobs.sorted { ($0.at ?? 0) < ($1.at ?? 0) }
    }

    /// Looks at the next part, which may be empty without being the last. Jobs whose URL is not valid UTF-8 are counted and not listed.
    func look(
        at selection: JobSelection, from cursor: JobCursor, limit: Int, looks: Int = jobsAtOnce, counting: Bool = false
    ) async throws -> (jobs: [ListedJob], count: Int, next: JobCursor?) {
        guard cluster.partitions.indices.contains(cursor.partition) else { return ([], 0, nil) }
        let reply = try await run(
            ClusterScripts.jobs, in: cluster.partitions[cursor.partition],
            selection.arguments + [.integer(limit), .integer(looks), .integer(counting ? 1 : 0)] + cursor.place.map { .integer($0) })
        let fields = try reply.asArray()
        guard fields.count >= 3, (fields.count - 3).isMultiple(of: 5) else { throw RedisError.form(of: "jobs") }
        let place = try fields[1].asArray().map { try $0.asInteger() }
        guard place.isEmpty || place.count == JobCursor.numbers else { throw RedisError.form(of: "jobs") }
        let jobs = try stride(from: 3, to: fields.count, by: 5).compactMap { try ListedJob(selection.state, fields[$0..<$0 + 5]) }
        let isLast = place.isEmpty && cursor.partition + 1 == cluster.partitions.count
        let next = place.isEmpty ? JobCursor(partition: cursor.partition + 1) : JobCursor(partition: cursor.partition, place: place)
        return (jobs, try fields[2].asInteger(), isLast ? nil : next)
    }
}

extension JobSelection {
    /// The first arguments of the scripts that list and sweep jobs.
    var arguments: [RedisArgument] { [.string(state.rawValue), .string(filter.host ?? ""), .string(filter.errorClass ?? "")] }
}
