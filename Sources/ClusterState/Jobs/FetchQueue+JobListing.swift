internal import GannetBasics
internal import RedisClient

/// Lists and counts jobs without changing them, a part at a time.
extension FetchQueue {
    /// How many jobs or elements one call looks at.
    static let jobsAtOnce = 500

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
        if selection.filter == JobFilter() { return max(0, min(limit, try await counts()[selection.state])) }
        return try await persistently {
            if selection.state == .active { return min(limit, try await active(selection).count) }
            var count = 0
            var next: JobCursor? = JobCursor()
            while count < limit, let from = next {
                let part = try await look(at: selection, from: from, limit: limit - count)
                count += part.count
                next = part.next
            }
            return count
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

    /// All active jobs, the oldest first. There are no more of them than the workers have places. Jobs of a cancelled batch are among them: they
    /// are in flight all the same.
    func active(_ selection: JobSelection) async throws -> [ListedJob] {
        _ = try checkedName()
        var jobs: [ListedJob] = []
        for partition in cluster.partitions {
            let reader = JobReader(self, partition, selection)
            let leases = try await reader.pipeline([RedisCommand("ZRANGE", partition.keys.leases, 0, -1)])[0].asArray()
            for start in stride(from: 0, to: leases.count, by: Self.processesAtOnce) {
                let some = try leases[start..<min(leases.count, start + Self.processesAtOnce)].map { try $0.asBytes() }
                jobs += try await active(of: some, reader)
            }
        }
        return jobs.sorted { ($0.at ?? 0) < ($1.at ?? 0) }
    }

    private func active(of incarnations: [[UInt8]], _ reader: JobReader) async throws -> [ListedJob] {
        var jobs: [ListedJob] = []
        func add(_ bytes: ArraySlice<UInt8>, at time: Int, _ lock: URLLock? = nil) {
            guard var block = Block(bytes), reader.matches(block), case .job(let entry) = block.next() else { return }
            jobs.append(
                ListedJob(
                    state: .active, entry: entry, batch: block.batch, enqueued: block.enqueued, crashes: lock?.crashes ?? 0,
                    failures: lock?.failures ?? 0, at: time, error: nil))
        }
        var locked: [(id: [UInt8], incarnation: [UInt8])] = []
        let now = try await cluster.now(in: reader.partition)
        let holdings = try await reader.pipeline(incarnations.map { RedisCommand("HGETALL", reader.keys.holder($0)) })
        for (incarnation, held) in zip(incarnations, holdings) {
            let held = try held.asArray().map { try $0.asBytes() }
            for index in stride(from: 0, to: held.count - 1, by: 2) {
                let field = held[index]
                if field.count == URLID.count { locked.append((field, incarnation)) }
                guard field.first == UInt8(ascii: "d"), let token = LockToken(field.dropFirst()),
                    let job = delivery(held[index + 1])
                else { continue }
                // A token's number is the time at which it was given, or a little more.
                add(job, at: min(now, Int(token.counter / 1024)))
            }
        }
        let locks = try await reader.pipeline(locked.map { RedisCommand("HGET", reader.keys.locks, .bytes($0.id)) })
        for ((_, incarnation), reply) in zip(locked, locks) {
            guard let lock = try reply.asOptionalBytes().flatMap({ URLLock($0) }), lock.kind == .worker, lock.queue == name,
                lock.token.incarnation.bytes == incarnation
            else { continue }
            add(lock.job, at: lock.began, lock)
        }
        return jobs
    }

    /// The job of a delivery, where it is a job of this queue.
    private func delivery(_ value: [UInt8]) -> ArraySlice<UInt8>? {
        var reader = ByteReader(value)
        guard let queue = reader.number(1).flatMap({ reader.bytes($0) }), queue.elementsEqual(name.utf8) else { return nil }
        return reader.all()
    }
}
