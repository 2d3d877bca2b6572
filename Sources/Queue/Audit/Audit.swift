internal import GannetBase
internal import GannetRedisClient

/// One audit: the order of its steps, and its findings.
struct Audit {
    let state: ClusterState
    let mends: Bool
    private(set) var findings: [AuditFinding] = []
    /// The queues that were met.
    private(set) var queues: Set<String> = []
    /// The queues of them that partition 0 has keys of.
    private(set) var queuesAtHome: Set<String> = []

    init(state: ClusterState, mends: Bool) {
        self.state = state
        self.mends = mends
    }

    /// Each step relies on the steps before it. Counters are compared last, when every job is where it belongs: where drift was found and
    /// left, jobs that nothing leads to would look lost.
    mutating func run(in partition: Partition) async throws {
        let before = mendable
        guard try await lookAtMainKeys(in: partition), try await lookAtClock(in: partition) else {
            return add(.notChecked, "the partition '\(partition.keys.tag)'")
        }
        let queues = try await lookAtKeys(in: partition)
        self.queues.formUnion(queues)
        if partition == state.home { queuesAtHome = queues }
        if !findings.contains(where: { $0.kind == .wrongType }) {
            try await lookAtLocks(in: partition)
            try await compareHosts(in: partition)
            for queue in queues.sorted() { try await lookAtCounters(of: queue, in: partition) }
        }
        if findings.contains(where: { $0.kind == .wrongType }) || !mends && mendable > before {
            return add(.notChecked, "the counters: they come after the other findings")
        }
        for queue in queues.sorted() { try await compareCounters(of: queue, in: partition) }
    }

    private var mendable: Int { findings.reduce(0) { $0 + ($1.kind.isMendable ? $1.count : 0) } }

    /// Outcomes that name a body in Redis which is not there. Where bodies have had to make room for others, that is no drift.
    mutating func run(in partition: Partition, bodies: BlobStore) async throws {
        let wrong = try await bodies.keysOfWrongType()
        for (key, expected) in wrong { add(.wrongType, "'\(key)', which has to be a \(expected)") }
        guard !findings.contains(where: { $0.kind == .wrongType }) else { return }
        guard try await lookAtCounters(of: bodies, from: partition) else {
            return add(.notChecked, "the outcomes: they come after the counters of the bodies")
        }
        let hasEvicted = try await bodies.usage().evicted > 0
        try await scanKeys(of: partition, beginning: "outcome:") { names in
            let ids = names.compactMap { URLID($0) }
            for id in try await withoutBody(ids, partition, bodies) {
                // It is looked at again: another fetch may have ended meanwhile.
                if mends {
                    if try await withoutBody([id], partition, bodies).isEmpty { continue }
                    _ = try await state.connection.send(RedisCommand("DEL", partition.keys.outcome(id)))
                }
                add(hasEvicted ? .bodyEvicted : .outcomeWithoutBody, Self.name(id.bytes))
            }
        }
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

    /// Goes through the keys that begin with the partition's tag and a text, some at a time. The names come without both.
    func scanKeys(of partition: Partition, beginning rest: String = "", _ body: ([[UInt8]]) async throws -> Void) async throws {
        let prefix = partition.keys.tag + rest
        try await state.scan("SCAN", matching: Self.pattern(beginning: prefix), at: partition.keys.state) { keys in
            try await body(try keys.map { Array(try $0.asBytes().dropFirst(prefix.utf8.count)) })
        }
    }

    /// The pattern of names that begin so.
    static func pattern(beginning text: String) -> RedisArgument {
        .string(text.reduce(into: "") { $0 += ("*?[]^\\".contains($1) ? "\\" : "") + String($1) } + "*")
    }

    /// - Parameter example: It may have names in it that strangers have written.
    mutating func add(_ kind: AuditFinding.Kind, _ example: String, count: Int = 1) {
        let example = example.withoutSteering
        if let index = findings.firstIndex(where: { $0.kind == kind }) {
            findings[index].count += count
        } else {
            findings.append(AuditFinding(kind: kind, count: count, example: example, isMended: mends && kind.isMendable))
        }
    }

    static func name(_ id: [UInt8]) -> String { "the URL " + Array(id.prefix(4)).hexadecimal + "…" }
}

extension URLOutcome {
    /// The digest of the body that the outcome says is in Redis. An empty body is nowhere.
    fileprivate var digestInRedis: [UInt8]? {
        isNegative || !isStored || content.size == 0 || content.place != .redis ? nil : content.digest
    }
}

extension ClusterState {
    /// Looks through the whole namespace for drift, and mends it when asked to. A server that lost data may leave drift, and so may another
    /// program that wrote to the keys.
    ///
    /// An audit may run beside workers, and as often as one likes. It may miss changes that are under way, but does not take them for drift. A
    /// suspicion is a finding only if all its grounds hold at one moment, and it is mended in that moment.
    /// - Parameters:
    ///   - bodies: Where the namespace keeps bodies in Redis; `nil` where it does not.
    ///   - looksAtSchema: Also compares the keys of the namespace with its schema. Tests have namespaces without one.
    /// - Returns: The findings, each kind once.
    package func audit(
        mend: Bool, bodies: BlobStore? = nil, looksAtSchema: Bool = false
    ) async throws(StateError) -> [AuditFinding] {
        try await StateError.mapping {
            var audit = Audit(state: self, mends: mend)
            // Without its schema a namespace has an unknown number of partitions.
            if looksAtSchema, try await !audit.lookAtSchema() { return audit.findings }
            for partition in partitions {
                try await audit.run(in: partition)
                guard let bodies else { continue }
                do {
                    try await audit.run(in: partition, bodies: bodies)
                } catch  where StateError(error)?.redis?.kind == .notPermitted {
                    // As where workers have a folder for them.
                    audit.add(.notChecked, "the bodies in Redis: this user may not read them")
                }
            }
            try await audit.lookAtBatches()
            try await audit.lookAtHome()
            return audit.findings
        }
    }
}
