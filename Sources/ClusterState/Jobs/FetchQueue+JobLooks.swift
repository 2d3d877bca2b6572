internal import RedisClient

/// Reads jobs of all states, a part at a time. Each call looks at a bounded number of jobs.
extension FetchQueue {
    /// How many jobs one call looks at.
    static let jobsAtOnce = 500

    /// The lists that hold ready or parked jobs, in an order that stays the same. With a host, only the lists that may hold the host's
    /// jobs.
    func lists(of state: JobState, host: String? = nil) async throws -> [JobList] {
        switch state {
        case .ready:
            var lists: [JobList] = []
            for priority in JobList.priorities {
                lists.append(.ready(priority))
                var hosts: Set<String> = []
                if let host { hosts = [host] } else { hosts = try await heldHosts(priority) }
                lists += hosts.sorted().map { JobList.held(priority, $0) }
            }
            return lists
        case .parked: return try await followed().sorted()
        case .active, .delayed, .dead: return []
        }
    }

    private func heldHosts(_ priority: String) async throws -> Set<String> {
        var hosts: Set<String> = []
        try await cluster.scan("ZSCAN", cluster.keys.due(priority, of: name)) { items in
            for (index, item) in items.enumerated() where index.isMultiple(of: 2) { hosts.insert(try item.asString()) }
        }
        return hosts
    }

    private func followed() async throws -> Set<JobList> {
        var lists: Set<JobList> = []
        var flights: [UInt8] = Array("0".utf8)
        var freed = 0
        repeat {
            let fields = try await run(ClusterScripts.listFollowed, [.bytes(flights), .integer(freed)]).asArray()
            guard fields.count >= 2 else { throw RedisError.form(of: "followers") }
            for field in fields.dropFirst(2) { lists.insert(JobList(try field.asBytes())) }
            (flights, freed) = (try fields[0].asBytes(), try fields[1].asInteger())
        } while !flights.isEmpty || freed >= 0
        return lists
    }

    /// Jobs of a list, from a position on. The answer has at most `limit` jobs, and the script looks at no more than `jobsAtOnce` elements.
    func look(
        at list: JobList, _ state: JobState, from position: Int, _ filter: JobFilter, limit: Int, counting: Bool = false
    ) async throws -> JobLook<Int> {
        let reply = try await run(
            ClusterScripts.listLine,
            [
                .bytes(list.name), .integer(position), .integer(Self.jobsAtOnce), .string(filter.host ?? ""), .integer(limit),
                .integer(counting ? 1 : 0),
            ])
        return try read(reply, state, fields: 1)
    }

    /// Delayed jobs, the earliest due time first.
    func lookAtDelayed(
        from position: Int, _ filter: JobFilter, limit: Int, counting: Bool = false
    ) async throws -> JobLook<Int> {
        let reply = try await run(
            ClusterScripts.listDelayed,
            [
                .integer(position), .integer(Self.jobsAtOnce), .string(filter.host ?? ""), .integer(limit), .integer(counting ? 1 : 0),
            ])
        return try read(reply, .delayed, fields: 2)
    }

    /// Given-up jobs, the latest first.
    func lookAtDead(
        from position: Int, _ filter: JobFilter, limit: Int, counting: Bool = false
    ) async throws -> JobLook<Int> {
        let reply = try await run(
            ClusterScripts.listDead,
            [
                .integer(position), .integer(Self.jobsAtOnce), .string(filter.host ?? ""), .integer(limit), .integer(counting ? 1 : 0),
                .string(filter.errorClass ?? ""),
            ])
        return try read(reply, .dead, fields: 3)
    }

    /// Jobs on lease, in no particular order. The cursor `0` begins.
    func lookAtActive(from cursor: String, _ filter: JobFilter, counting: Bool = false) async throws -> JobLook<String> {
        let reply = try await run(
            ClusterScripts.listActive,
            [.string(cursor), .integer(Self.jobsAtOnce), .string(filter.host ?? ""), .integer(counting ? 1 : 0)])
        let answer = try LookAnswer(reply, .active, fields: 2)
        let next = String(decoding: answer.next, as: UTF8.self)
        return JobLook(jobs: answer.jobs, count: answer.count, next: next == "0" ? nil : next)
    }

    private func read(_ reply: RedisReply, _ state: JobState, fields: Int) throws -> JobLook<Int> {
        let answer = try LookAnswer(reply, state, fields: fields)
        let next = Int(String(decoding: answer.next, as: UTF8.self)) ?? -1
        return JobLook(jobs: answer.jobs, count: answer.count, next: next < 0 ? nil : next)
    }
}

/// The answer of the scripts that list jobs: queue time, where to go on, how many jobs, then the fields of each.
private struct LookAnswer {
    let next: [UInt8]
    let count: Int
    var jobs: [ListedJob] = []

    init(_ reply: RedisReply, _ state: JobState, fields: Int) throws(RedisError) {
        let items = try reply.asArray()
        guard items.count >= 3, (items.count - 3).isMultiple(of: fields) else {
            throw .form(of: "jobs")
        }
        if case .integer(let number) = items[1] { next = Array("\(number)".utf8) } else { next = try items[1].asBytes() }
        count = try items[2].asInteger()
        for index in stride(from: 3, to: items.count, by: fields) {
            let at = fields > 1 ? try items[index].asInteger() : nil
            let bytes = try items[index + (fields > 1 ? 1 : 0)].asBytes()
            let error = fields > 2 ? try items[index + 2].asBytes() : []
            if let job = ListedJob(state, bytes, at: at, error: error) { jobs.append(job) }
        }
    }
}

/// A list of jobs, by its name in the scripts of `Scripts/Jobs`.
struct JobList: Sendable, Hashable, Comparable {
    let name: [UInt8]

    init(_ name: [UInt8]) { self.name = name }

    static func ready(_ priority: String) -> JobList { JobList(Array("ready:\(priority)".utf8)) }
    static func held(_ priority: String, _ host: String) -> JobList { JobList(Array("held:\(priority):\(host)".utf8)) }

    static let priorities = Priority.allCases.map(\.rawValue)

    static func < (one: JobList, other: JobList) -> Bool { one.order.lexicographicallyPrecedes(other.order) }

    /// Sorts by priority, with the ready list before the held lists.
    private var order: [UInt8] {
        for (index, priority) in Self.priorities.enumerated() {
            if name == Self.ready(priority).name { return [UInt8(index)] }
            let held = Self.held(priority, "").name
            if name.starts(with: held) { return [UInt8(index)] + name.dropFirst(held.count) }
        }
        return name
    }
}

/// The answer of one look at a part of the queue.
struct JobLook<Position: Sendable>: Sendable {
    /// Jobs whose URL is not valid UTF-8 are counted, but left out here.
    let jobs: [ListedJob]
    let count: Int

    /// Where to go on; `nil` at the end.
    let next: Position?
}
