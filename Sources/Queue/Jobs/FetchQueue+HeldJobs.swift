internal import GannetBase
internal import GannetRedisClient

/// The jobs of a queue that processes hold: those that they fetch, and those that they deliver.
extension FetchQueue {
    /// All selected active jobs, the oldest first. There are no more of them than the workers have places. Jobs of a cancelled batch are among
    /// them: they are in flight all the same.
    func active(_ selection: JobSelection) async throws -> [ListedJob] {
        var jobs: [ListedJob] = []
        for partition in cluster.partitions {
            let reader = JobReader(self, partition, selection)
            try await holdings(in: partition) { _, held in
                for one in held {
                    guard var block = Block(one.job), reader.matches(block), case .job(let entry) = block.next(),
                        selection.filter.lists(entry)
                    else { continue }
                    jobs.append(
                        ListedJob(
                            state: .active, entry: entry, batch: block.batch, enqueued: block.enqueued, crashes: one.lock?.crashes ?? 0,
                            failures: one.lock?.failures ?? 0, at: one.began, error: nil))
                }
            }
        }
        return jobs.sorted { ($0.at ?? 0) < ($1.at ?? 0) }
    }

    /// Takes back all that a queue's workers hold, without charging the jobs, and returns the number of jobs. The caller must know that the
    /// holders are gone.
    @discardableResult
    package func reclaimAll() async throws(StateError) -> Int {
        var sum = 0
        for partition in cluster.partitions {
            sum += try await persistently {
                var taken = 0
                try await holdings(in: partition) { incarnation, held in
                    for start in stride(from: 0, to: held.count, by: Self.jobsAtOnce) {
                        let fields = held[start..<min(held.count, start + Self.jobsAtOnce)].map { RedisArgument.bytes($0.field) }
                        taken += try await run(cluster.scripts.control, in: partition, ["takeBack", .bytes(incarnation)] + fields)
                            .asInteger()
                    }
                }
                return taken
            }
        }
        return sum
    }

    private static let processesAtOnce = 50

    /// A job that a process holds, under a field of what it holds.
    private struct HeldJob {
        let field: [UInt8]
        let job: ArraySlice<UInt8>
        let began: Int
        /// `nil` for a job that is only to be delivered.
        let lock: URLLock?
    }

    /// Calls `body` for each process, with the queue's jobs that it holds.
    private func holdings(in partition: Partition, _ body: ([UInt8], [HeldJob]) async throws -> Void) async throws {
        let (keys, name) = (partition.keys, try checkedName())
        let commands = [RedisCommand("ZRANGE", keys.leases, "(0", "+inf", "BYSCORE")]
        let (now, found) = try await cluster.answers(to: commands, in: partition)
        let leases = try found[0].asArray().map { try $0.asBytes() }
        for start in stride(from: 0, to: leases.count, by: Self.processesAtOnce) {
            let incarnations = leases[start..<min(leases.count, start + Self.processesAtOnce)]
            let holders = try await cluster.answers(to: incarnations.map { RedisCommand("HGETALL", keys.holder($0)) })
            for (incarnation, holder) in zip(incarnations, holders) {
                let fields = try holder.asArray().pairs.map { (name: try $0.name.asBytes(), value: try $0.value.asBytes()) }
                let ids = fields.map(\.name).filter { $0.count == URLID.count }
                let locks = try await cluster.answers(to: ids.map { RedisCommand("HGET", keys.locks, .bytes($0)) })
                var held = try zip(ids, locks).compactMap { id, reply -> HeldJob? in
                    guard let lock = try reply.asOptionalBytes().flatMap({ URLLock($0) }), lock.kind == .worker, lock.queue == name,
                        lock.token.incarnation.bytes == incarnation
                    else { return nil }
                    return HeldJob(field: id, job: lock.job, began: lock.began, lock: lock)
                }
                held += fields.compactMap { field in
                    guard field.name.first == UInt8(ascii: "d"), let token = LockToken(field.name.dropFirst()),
                        let job = delivery(field.value)
                    else { return nil }
                    // A token's number is the time at which it was given, or a little more.
                    return HeldJob(field: field.name, job: job, began: min(now, Int(token.counter / 1024)), lock: nil)
                }
                try await body(incarnation, held)
            }
        }
    }

    /// The job of a delivery, where it is a job of this queue.
    private func delivery(_ value: [UInt8]) -> ArraySlice<UInt8>? {
        var reader = ByteReader(value)
        guard let queue = reader.number(1).flatMap({ reader.bytes($0) }), queue.elementsEqual(name.utf8) else { return nil }
        return reader.all()
    }
}
