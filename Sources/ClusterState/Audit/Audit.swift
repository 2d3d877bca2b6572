internal import RedisClient

/// One audit: the order of its steps, and its findings.
struct Audit {
    private let state: ClusterState
    private let mends: Bool
    private(set) var findings: [AuditFinding] = []

    private var queues: Set<String> = []
    private var chains: Set<[UInt8]> = []
    private var strays: Set<Stray> = []

    /// A list of jobs that no other key leads to, and that the audit did not mend.
    private struct Stray: Hashable {
        /// Empty for a list of followers, which may belong to any queue.
        let queue: String
        let key: [UInt8]
    }

    private static let chainsAtOnce = 1000

    init(state: ClusterState, mends: Bool) {
        self.state = state
        self.mends = mends
    }

    /// Each step relies on the steps before it. A URL in flight without a lock is locked first: otherwise its followers would look
    /// abandoned. Counters are compared last, when every job is where it belongs.
    mutating func run() async throws {
        try await lookOver(ClusterScripts.auditFlights)
        try await lookOver(ClusterScripts.auditExpiry)
        try await lookOver(ClusterScripts.auditKeys)
        try await lookAtChains()
        try await lookOver(ClusterScripts.auditFreed)
        _ = try await look(ClusterScripts.auditHosts)
        for queue in queues.sorted() {
            let lists = strays.filter { $0.queue.isEmpty || $0.queue == queue }.map { RedisArgument.bytes($0.key) }
            _ = try await look(ClusterScripts.auditCounts, queue: queue, lists)
        }
    }

    /// Calls a script until it has looked at everything.
    private mutating func lookOver(_ script: RedisScript) async throws {
        var cursor: [UInt8] = Self.end
        repeat {
            let answer = try await look(script, [.bytes(cursor)])
            cursor = answer.cursor
            try note(answer.rest)
        } while cursor != Self.end
    }

    private mutating func lookAtChains() async throws {
        var left = Array(chains)
        while !left.isEmpty {
            let answer = try await look(ClusterScripts.auditChains, left.prefix(Self.chainsAtOnce).map { .bytes($0) })
            for key in answer.rest.first ?? [] { strays.insert(Stray(queue: "", key: key)) }
            left = Array(left.dropFirst(Self.chainsAtOnce))
        }
    }

    /// Notes the queues and lists that `auditKeys` met on its way.
    private mutating func note(_ lists: [[[UInt8]]]) throws {
        guard !lists.isEmpty else { return }
        guard lists.count == 3, lists[2].count.isMultiple(of: 2) else { throw RedisError.form(of: "audit") }
        for queue in lists[0] { queues.insert(String(decoding: queue, as: UTF8.self)) }
        chains.formUnion(lists[1])
        for index in stride(from: 0, to: lists[2].count, by: 2) {
            strays.insert(Stray(queue: String(decoding: lists[2][index], as: UTF8.self), key: lists[2][index + 1]))
        }
    }

    private static let end = Array("0".utf8)

    /// One step. A script answers a cursor, findings, and sometimes lists of its own.
    private mutating func look(
        _ script: RedisScript, queue: String? = nil, _ arguments: [RedisArgument] = []
    ) async throws -> (cursor: [UInt8], rest: [[[UInt8]]]) {
        let fields = try await state.run(script, queue: queue, [.integer(mends ? 1 : 0)] + arguments).asArray()
        guard fields.count >= 2 else { throw RedisError.form(of: "audit") }
        for finding in try AuditFinding.read(fields[1], mends: mends) { add(finding) }
        return (try fields[0].asBytes(), try fields.dropFirst(2).map { try $0.asArray().map { try $0.asBytes() } })
    }

    private mutating func add(_ finding: AuditFinding) {
        if let index = findings.firstIndex(where: { $0.kind == finding.kind }) {
            findings[index].count += finding.count
        } else {
            findings.append(finding)
        }
    }
}

extension AuditFinding {
    /// Reads findings: kind, number and example of each.
    fileprivate static func read(_ reply: RedisReply, mends: Bool) throws -> [AuditFinding] {
        let fields = try reply.asArray()
        guard fields.count.isMultiple(of: 3) else { throw RedisError.form(of: "audit") }
        var findings: [AuditFinding] = []
        for index in stride(from: 0, to: fields.count, by: 3) {
            guard let kind = Kind(rawValue: try fields[index].asString()) else {
                throw RedisError.form(of: "audit")
            }
            findings.append(
                AuditFinding(
                    kind: kind, count: try fields[index + 1].asInteger(), example: try fields[index + 2].asString(),
                    isMended: mends && kind.isMendable))
        }
        return findings
    }
}

extension ClusterState {
    /// Looks through the whole namespace for drift, and mends it when asked to. A server that lost data may leave drift, and so may another
    /// program that wrote to the keys.
    ///
    /// An audit may run beside workers, and as often as one likes: each step is one short script that looks and mends at once. An audit may
    /// miss changes that are under way, but does not take them for drift.
    /// - Returns: The findings, each kind once.
    package func audit(mend: Bool) async throws(StateError) -> [AuditFinding] {
        try await StateError.mapping {
            var audit = Audit(state: self, mends: mend)
            try await audit.run()
            return audit.findings
        }
    }
}
