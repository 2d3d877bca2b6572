internal import RedisClient

/// One audit: the order in which the parts are looked at, and the findings.
struct Audit {
    private let state: ClusterState
    private let mends: Bool
    private(set) var findings: [AuditFinding] = []

    private var queues: Set<String> = []
    private var chains: Set<[UInt8]> = []
    private var strays: Set<Stray> = []

    /// A list of jobs that nothing leads to, because the audit may not mend its finding.
    private struct Stray: Hashable {
        /// Empty for followers, who may be of any queue.
        let queue: String
        let key: [UInt8]
    }

    private static let chainsAtOnce = 1000

    init(state: ClusterState, mends: Bool) {
        self.state = state
        self.mends = mends
    }

    /// Each part relies on the parts before it: a URL in flight that was not locked is locked before its followers are taken for nobody's,
    /// and counters are compared when everything is in its place.
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

    /// Calls a script until it has looked over everything.
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

    /// One step: a cursor, the findings, and lists of the script's own.
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
    /// Reads kind, number and example, one after the other.
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
    /// Looks over the whole namespace for drift, which a server that lost data may have left, or another program that wrote to its keys.
    /// Mends it when asked to.
    ///
    /// It may run beside workers, and as often as one likes: each look is one short script that sees and mends in the same step. It may
    /// miss changes that are under way while it looks, and never mistakes them.
    /// - Returns: The findings, each kind once.
    package func audit(mend: Bool) async throws(StateError) -> [AuditFinding] {
        try await StateError.mapping {
            var audit = Audit(state: self, mends: mend)
            try await audit.run()
            return audit.findings
        }
    }
}
