internal import RedisClient

/// Jobs as they lie, a part at a time. Each call looks at a bounded number of them.
extension QueueState {
    /// How many jobs one call looks at.
    package static let jobsAtOnce = 500

    /// The lists that hold jobs which are ready, or parked, in an order of their own that stays; with a host, those that may hold jobs of it.
    package func lists(of state: JobState, host: String? = nil) async throws(StateError) -> [JobList] {
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

    private func heldHosts(_ priority: String) async throws(StateError) -> Set<String> {
        var hosts: Set<String> = []
        var cursor = "0"
        repeat {
            let command = RedisCommand(
                "ZSCAN", cluster.keys.due(priority, of: name), .string(cursor), "COUNT", .integer(Self.jobsAtOnce))
            let reply = try await cluster.send(command)
            cursor = try await StateError.wrapping { () throws(RedisError) in
                let fields = try reply.asArray()
                guard fields.count == 2 else { throw RedisError(.unexpectedReply, "ZSCAN in another form than expected") }
                for (index, item) in try fields[1].asArray().enumerated() where index.isMultiple(of: 2) {
                    hosts.insert(try item.asString())
                }
                return try fields[0].asString()
            }
        } while cursor != "0"
        return hosts
    }

    private func followed() async throws(StateError) -> Set<JobList> {
        var lists: Set<JobList> = []
        var flights: [UInt8] = Array("0".utf8)
        var freed = 0
        repeat {
            let reply = try await run(ClusterScripts.listFollowed, [.bytes(flights), .integer(freed)])
            (flights, freed) = try await StateError.wrapping { () throws(RedisError) in
                let fields = try reply.asArray()
                guard fields.count >= 2 else { throw RedisError(.unexpectedReply, "followers in another form than expected") }
                for field in fields.dropFirst(2) { lists.insert(JobList(try field.asBytes())) }
                return (try fields[0].asBytes(), try fields[1].asInteger())
            }
        } while !flights.isEmpty || freed >= 0
        return lists
    }

    /// Jobs of a list from a place on. `limit` bounds how many are answered, and nothing more than `jobsAtOnce` is looked at.
    package func look(
        at list: JobList, _ state: JobState, from position: Int, _ filter: JobFilter, limit: Int, counting: Bool = false
    ) async throws(StateError) -> JobLook<Int> {
        let reply = try await run(
            ClusterScripts.listLine,
            [
                .bytes(list.name), .integer(position), .integer(Self.jobsAtOnce), .string(filter.host ?? ""), .integer(limit),
                .integer(counting ? 1 : 0),
            ])
        return try await read(reply, state, fields: 1)
    }

    /// Jobs that wait for a time, the first to be due first.
    package func lookAtDelayed(
        from position: Int, _ filter: JobFilter, limit: Int, counting: Bool = false
    ) async throws(StateError) -> JobLook<Int> {
        let reply = try await run(
            ClusterScripts.listDelayed,
            [
                .integer(position), .integer(Self.jobsAtOnce), .string(filter.host ?? ""), .integer(limit), .integer(counting ? 1 : 0),
            ])
        return try await read(reply, .delayed, fields: 2)
    }

    /// Given-up jobs, the latest first.
    package func lookAtDead(
        from position: Int, _ filter: JobFilter, limit: Int, counting: Bool = false
    ) async throws(StateError) -> JobLook<Int> {
        let reply = try await run(
            ClusterScripts.listDead,
            [
                .integer(position), .integer(Self.jobsAtOnce), .string(filter.host ?? ""), .integer(limit), .integer(counting ? 1 : 0),
                .string(filter.errorClass ?? ""),
            ])
        return try await read(reply, .dead, fields: 3)
    }

    /// Jobs on lease, in no order; `0` begins.
    package func lookAtActive(from cursor: String, _ filter: JobFilter, counting: Bool = false) async throws(StateError) -> JobLook<String>
    {
        let reply = try await run(
            ClusterScripts.listActive,
            [.string(cursor), .integer(Self.jobsAtOnce), .string(filter.host ?? ""), .integer(counting ? 1 : 0)])
        return try await StateError.wrapping { () throws(RedisError) in
            let answer = try LookAnswer(reply, .active, fields: 2)
            let next = String(decoding: answer.next, as: UTF8.self)
            return JobLook(jobs: answer.jobs, count: answer.count, next: next == "0" ? nil : next)
        }
    }

    private func read(_ reply: RedisReply, _ state: JobState, fields: Int) async throws(StateError) -> JobLook<Int> {
        try await StateError.wrapping { () throws(RedisError) in
            let answer = try LookAnswer(reply, state, fields: fields)
            let next = Int(String(decoding: answer.next, as: UTF8.self)) ?? -1
            return JobLook(jobs: answer.jobs, count: answer.count, next: next < 0 ? nil : next)
        }
    }
}

/// What the scripts that list jobs answer: queue time, where to go on, how many jobs, then the fields of each.
private struct LookAnswer {
    let next: [UInt8]
    let count: Int
    var jobs: [ListedJob] = []

    init(_ reply: RedisReply, _ state: JobState, fields: Int) throws(RedisError) {
        let items = try reply.asArray()
        guard items.count >= 3, (items.count - 3).isMultiple(of: fields) else {
            throw RedisError(.unexpectedReply, "jobs in another form than expected")
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
