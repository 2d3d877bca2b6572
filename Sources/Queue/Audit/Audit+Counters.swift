internal import GannetBase
internal import GannetRedisClient

/// Counters, compared with the jobs that are there at one moment. `Scripts/audit.lua` counts these jobs.
extension Audit {
    /// The counts of hosts are mended in that moment, too: they decide whether a request may start.
    mutating func compareHosts(in partition: Partition) async throws {
        let found = try await state.run(state.scripts.audit, in: partition, ["hosts", .integer(mends ? 1 : 0)]).asArray()
        guard let unchecked = try found.first?.asString() else { throw RedisError.form(of: "audit") }
        if !unchecked.isEmpty { return add(.notChecked, unchecked) }
        for host in found.dropFirst() {
            let fields = try host.fields(3, of: "audit")
            let (name, there, counted) = (try fields[0].asString(), try fields[1].asInteger(), try fields[2].asInteger())
            add(.hostCount, "the host \(name): \(there) where \(counted) are counted")
        }
    }

    private static let mostTries = 20

    /// Compares the counters of a queue and of its batches. A counter moves with its jobs, so that what is wrong with it stays the same while
    /// jobs come and go. It is added as a whole, unless another audit has done so, or a batch was cancelled or removed meanwhile.
    ///
    /// Damaged jobs are among those that are missing. Workers drop them.
    mutating func compareCounters(of queue: String, in partition: Partition) async throws {
        for _ in 0..<Self.mostTries {
            let found = try await state.run(state.scripts.audit, in: partition, queue: queue, ["jobs"]).asArray()
            guard let unchecked = try found.first?.asString() else { throw RedisError.form(of: "audit") }
            if !unchecked.isEmpty { return add(.notChecked, "the queue \(queue): \(unchecked)") }
            guard found.count >= 4 else { throw RedisError.form(of: "audit") }
            let damaged = try found[1].asNumber()
            if damaged > 0 {
                add(
                    .recordDamaged, "jobs in '\(String(decoding: try found[2].asBytes(), as: UTF8.self).shown(standIn: "?"))'",
                    count: damaged)
            }
            let drift = try CounterDrift(found.dropFirst(3), of: queue, partition.keys)
            if mends, drift.findings.contains(where: \.kind.isMendable), try await !drift.commit.run(state, in: partition, queue: queue) {
                continue
            }
            // Jobs that batches miss are told of once, and not again for their queue.
            for (kind, example, count) in drift.findings where count > 0 { add(kind, example, count: count) }
            return
        }
        add(.notChecked, "the queue \(queue): its batches are cancelled all the time")
    }
}

/// The differences between the counters of a queue and what is there, and the step that mends them. Counters that are no numbers are named, and
/// the others of their record are left alone.
private struct CounterDrift {
    private(set) var findings: [(kind: AuditFinding.Kind, example: String, count: Int)] = []
    private(set) var commit = Commit()

    private static let parts = ["active", "parked", "delayed"]

    /// The names of the counters: all jobs, the three ways to end, and the three parts.
    private static func names(total: String) -> [String] { [total, "done", "failed", "cancelled"] + parts }

    init(_ reply: ArraySlice<RedisReply>, of queue: String, _ keys: Keys) throws {
        guard let fields = try reply.first?.fields(9, of: "audit") else { throw RedisError.form(of: "audit") }
        let (key, name) = (keys.queue(queue), "the queue \(queue)")
        var (uses, lost) = (try fields[0].asOptionalString() ?? "", 0)
        var all = [0, 0, 0, 0]
        commit.effect = .wakes(.max)
        // Of two audits that found the same, one mends it.
        let mended = try fields[1].asOptionalBytes()
        commit.check(mended, "HGET", key, "mended")
        commit.write("HSET", key, "mended", .integer((mended.flatMap { Int(inRedis: String(decoding: $0, as: UTF8.self)) } ?? 0) + 1))
        for batch in reply.dropFirst() {
            let fields = try batch.fields(14, of: "audit")
            let (number, state) = (try fields[0].asInteger(), try fields[5].asOptionalString())
            // A batch that was removed has no counters, and one that was cancelled counts only what is in flight.
            guard let state else { continue }
            var there = try fields[1..<5].map { try $0.asInteger() }
            if state == "cancelled" { there[1...] = [0, 0, 0] }
            let (before, record, whose) = (findings.count, keys.batch(number, of: queue), "batch \(number) of \(name)")
            if let counted = try counted(fields[7...], "\(keys.tag)q:\(queue):batch:\(number)", total: "total") {
                lost += compare(there, with: counted, record, whose, total: "total")
            }
            let known = try fields[6].asOptionalString().flatMap { Int(inRedis: $0) }.flatMap { Priority(number: $0) }
            let priority = "\((known ?? .normal).number)"
            // Exchanges look only where there can be something.
            if state != "cancelled", !uses.contains(priority) {
                uses += priority
                findings.append((.counter, "the priority of \(whose)", 1))
                commit.write("HSET", key, "priorities", .string(uses))
            }
            if findings.count > before { commit.check(Array(state.utf8), "HGET", record, "state") }
            for index in all.indices { all[index] += there[index] }
        }
        guard let counted = try counted(fields[2...], "\(keys.tag)q:\(queue):queue", total: "enqueued") else { return }
        _ = compare(all, with: counted, key, name, total: "enqueued", told: lost)
    }

    /// Counters as Redis has them; `nil` where one of them is no number.
    private mutating func counted(_ replies: ArraySlice<RedisReply>, _ key: String, total: String) throws -> [Int]? {
        let names = Self.names(total: total)
        var numbers: [Int] = []
        for (index, (name, reply)) in zip(names, replies).enumerated() {
            let text = try reply.asOptionalBytes().map { String(decoding: $0, as: UTF8.self) } ?? "0"
            // The first four only grow.
            if let number = Int(inRedis: text), number >= 0 || index >= 4 {
                numbers.append(number)
            } else {
                findings.append((.counterDamaged, "'\(name)' of '\(key)'", 1))
            }
        }
        return numbers.count == names.count ? numbers : nil
    }

    /// Jobs that are ready are what was accepted and is nothing else. Where there are fewer, jobs are lost: they count as failed, so that
    /// nobody waits for them. Where there are more, they were accepted all the same.
    /// - Parameters:
    ///   - there: The jobs that are there: those of the three parts, and those that are ready.
    ///   - told: How many lost jobs are findings already.
    /// - Returns: How many jobs are lost.
    private mutating func compare(
        _ there: [Int], with counted: [Int], _ key: RedisArgument, _ whose: String, total: String, told: Int = 0
    ) -> Int {
        for (part, (found, known)) in zip(Self.parts, zip(there, counted[4...])) where found != known {
            findings.append((.counter, "\(part) of \(whose): \(found) where \(known) are counted", 1))
            commit.count(found - known, part, in: key)
        }
        let lost = counted[0] - counted[1...3].reduce(0, +) - there.reduce(0, +)
        if lost != 0 {
            let (kind, field) = lost > 0 ? (AuditFinding.Kind.jobsLost, "failed") : (.jobsUncounted, total)
            findings.append((kind, "of \(whose): \(abs(lost))", abs(lost) - max(0, lost.signum() * told)))
            commit.count(abs(lost), field, in: key)
        }
        return lost
    }
}
