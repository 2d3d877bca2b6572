internal import RedisClient

/// One audit: the order of its steps, and its findings.
struct Audit {
    private let state: ClusterState
    private let mends: Bool
    private(set) var findings: [AuditFinding] = []

    init(state: ClusterState, mends: Bool) {
        self.state = state
        self.mends = mends
    }

    /// Each step relies on the steps before it. Counters are compared last, when every job is where it belongs: where drift was found and
    /// left, jobs that nothing leads to would look lost.
    mutating func run(in partition: Partition) async throws {
        let before = findings.reduce(0) { $0 + $1.count }
        let queues = try await lookOver("keys", in: partition)
        if !findings.contains(where: { $0.kind == .wrongType }) {
            _ = try await lookOver("locks", in: partition)
            _ = try await lookOver("hosts", in: partition)
        }
        if findings.contains(where: { $0.kind == .wrongType }) || !mends && findings.reduce(0, { $0 + $1.count }) > before {
            return add(
                AuditFinding(kind: .notChecked, count: 1, example: "the counters: they come after the other findings", isMended: false))
        }
        for queue in queues.sorted() { _ = try await look("counts", at: Self.end, queue: queue, in: partition) }
    }

    /// Outcomes that name a body in Redis which is not there. Where bodies have had to make room for others, that is no drift.
    mutating func run(in partition: Partition, bodies: BlobStore) async throws {
        let hasEvicted = try await bodies.usage().evicted > 0
        let prefix = partition.keys.tag + "outcome:"
        let pattern = prefix.reduce(into: "") { $0 += ("*?[]^\\".contains($1) ? "\\" : "") + String($1) } + "*"
        var cursor = "0"
        repeat {
            let page = try await state.connection.send(RedisCommand("SCAN", .string(cursor), "MATCH", .string(pattern), "COUNT", "500"))
                .fields(2, of: "SCAN")
            let ids = try page[1].asArray().compactMap { URLID(Array(try $0.asBytes().dropFirst(prefix.utf8.count))) }
            for id in try await withoutBody(ids, partition, bodies) {
                // It is looked at again: another fetch may have ended meanwhile.
                if mends {
                    if try await withoutBody([id], partition, bodies).isEmpty { continue }
                    _ = try await state.connection.send(RedisCommand("DEL", partition.keys.outcome(id)))
                }
                let example = "the URL " + id.bytes.prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "…"
                add(AuditFinding(kind: hasEvicted ? .bodyEvicted : .outcomeWithoutBody, count: 1, example: example, isMended: mends))
            }
            cursor = try page[0].asString()
        } while cursor != "0"
    }

    /// The server's user may not look at bodies, as where workers have a folder for them.
    fileprivate mutating func noteBodiesUnchecked() {
        add(AuditFinding(kind: .notChecked, count: 1, example: "the bodies in Redis: this user may not read them", isMended: false))
    }

    private func withoutBody(_ ids: [URLID], _ partition: Partition, _ bodies: BlobStore) async throws -> [URLID] {
        let replies = await state.connection.pipeline(ids.map { RedisCommand("GET", partition.keys.outcome($0)) })
        var claiming: [URLID] = []
        var claimed: [(digest: [UInt8], size: Int)] = []
        for (id, reply) in zip(ids, replies) {
            guard let outcome = try reply.get().asOptionalBytes().flatMap({ URLOutcome($0) }), let digest = outcome.digestInRedis else {
                continue
            }
            claiming.append(id)
            claimed.append((digest, outcome.content.size))
        }
        return try await zip(claiming, bodies.areThere(claimed)).filter { !$0.1 }.map { $0.0 }
    }

    /// Calls the script until it has looked at everything. Answers the queues that it met.
    private mutating func lookOver(_ part: String, in partition: Partition) async throws -> Set<String> {
        var queues: Set<String> = []
        var cursor = Self.end
        repeat {
            let answer = try await look(part, at: cursor, in: partition)
            queues.formUnion(answer.queues)
            cursor = answer.cursor
        } while cursor != Self.end
        return queues
    }

    private static let end = "0"

    /// One step.
    private mutating func look(
        _ part: String, at cursor: String, queue: String? = nil, in partition: Partition
    ) async throws -> (cursor: String, queues: [String]) {
        let arguments: [RedisArgument] = [.integer(mends ? 1 : 0), .string(part), .string(cursor)]
        let fields = try await state.run(ClusterScripts.audit, in: partition, queue: queue, arguments).fields(3, of: "audit")
        let found = try fields[1].asArray()
        guard found.count.isMultiple(of: 3) else { throw RedisError.form(of: "audit") }
        for index in stride(from: 0, to: found.count, by: 3) {
            guard let kind = AuditFinding.Kind(rawValue: try found[index].asString()) else { throw RedisError.form(of: "audit") }
            let count = try found[index + 1].asInteger()
            // Jobs that batches miss are told of once, and not again for their queue.
            if count == 0 { continue }
            add(AuditFinding(kind: kind, count: count, example: try found[index + 2].asString(), isMended: mends && kind.isMendable))
        }
        return (try fields[0].asString(), try fields[2].asArray().map { try $0.asString() })
    }

    private mutating func add(_ finding: AuditFinding) {
        if let index = findings.firstIndex(where: { $0.kind == finding.kind }) {
            findings[index].count += finding.count
        } else {
            findings.append(finding)
        }
    }
}

extension URLOutcome {
    /// The digest of the body that the outcome says is in Redis. A body in a folder has a file; an empty body is nowhere.
    fileprivate var digestInRedis: [UInt8]? {
        isNegative || !isStored || content.size == 0 || content.fields[.file] != nil ? nil : content.digest
    }
}

extension ClusterState {
    /// Looks through the whole namespace for drift, and mends it when asked to. A server that lost data may leave drift, and so may another
    /// program that wrote to the keys.
    ///
    /// An audit may run beside workers, and as often as one likes: each step is one short script that looks and mends at once. An audit may
    /// miss changes that are under way, but does not take them for drift.
    /// - Parameter bodies: Where the namespace keeps bodies in Redis; `nil` where it does not.
    /// - Returns: The findings, each kind once.
    package func audit(mend: Bool, bodies: BlobStore? = nil) async throws(StateError) -> [AuditFinding] {
        try await StateError.mapping {
            var audit = Audit(state: self, mends: mend)
            for partition in partitions {
                try await audit.run(in: partition)
                guard let bodies else { continue }
                do {
                    try await audit.run(in: partition, bodies: bodies)
                } catch  where StateError(error)?.redis?.kind == .notPermitted {
                    audit.noteBodiesUnchecked()
                }
            }
            return audit.findings
        }
    }
}
