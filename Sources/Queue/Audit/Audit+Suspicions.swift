internal import GannetRedisClient

/// Drift that shows in a few keys. Plain commands find what looks wrong. One step then tells whether it is so, and mends it when asked.
extension Audit {
    /// The grounds of a suspicion: commands and their replies.
    private struct Grounds {
        var replies: [[UInt8]?] = []
        var commit = Commit()

        static let none: [UInt8] = [UInt8(ascii: "0")], one = [UInt8(ascii: "1")]

        mutating func add(_ reply: RedisReply, _ command: RedisCommand) throws {
            if case .integer(let number) = reply {
                replies.append(Array("\(number)".utf8))
            } else {
                replies.append(try reply.asOptionalBytes())
            }
            commit.check(replies.last ?? nil, command)
        }
    }

    /// The grounds of many suspicions, read together.
    private func grounds(_ groups: [[RedisCommand]]) async throws -> [Grounds] {
        var replies = try await state.answers(to: groups.flatMap { $0 })[...]
        return try groups.map { commands in
            var grounds = Grounds()
            for command in commands { try grounds.add(replies.removeFirst(), command) }
            return grounds
        }
    }

    /// Notes a finding where all that the suspicion rests on is so at one moment. Its changes are made in that moment, if it is to be mended.
    @discardableResult
    private mutating func find(
        _ kind: AuditFinding.Kind, _ example: String, _ grounds: Grounds, queue: String = "", in partition: Partition,
        mend: (inout Commit) -> Void = { _ in }
    ) async throws -> Bool {
        var commit = grounds.commit
        if mends { mend(&commit) }
        guard try await commit.run(state, in: partition, queue: queue) else { return false }
        add(kind, example)
        return true
    }

    /// Takes back what nobody would: everything that a process without a lease holds, or one lock that its process does not know.
    private func takeBack(from incarnation: [UInt8], id: [UInt8] = [], in partition: Partition) async throws {
        guard mends else { return }
        let fields: [RedisArgument] = id.isEmpty ? [] : [.bytes(id)]
        let arguments = ["takeBack", .bytes(incarnation)] + fields
        while try await state.run(state.scripts.control, in: partition, queue: "", arguments).asInteger() > 0 {}
    }
}

extension Audit {
    mutating func check(holder incarnation: [UInt8], in partition: Partition) async throws {
        let (keys, holder) = (partition.keys, partition.keys.holder(incarnation))
        let lease = try await grounds([[RedisCommand("ZSCORE", keys.leases, .bytes(incarnation)), RedisCommand("EXISTS", holder)]])[0]
        if !Self.isLease(lease.replies[0]), lease.replies[1] == Grounds.one,
            try await find(.leaseWithoutExpiry, "a lease without an end", lease, in: partition)
        {
            try await takeBack(from: incarnation, in: partition)
        }
        let ids = try await state.answers(to: [RedisCommand("HKEYS", holder)])[0].asArray().map { try $0.asBytes() }.filter {
            $0.count == URLID.count
        }
        let all = try await grounds(
            ids.map { [RedisCommand("HGET", keys.locks, .bytes($0)), RedisCommand("HEXISTS", holder, .bytes($0))] })
        for (id, grounds) in zip(ids, all) where !Self.holds(grounds.replies[0], incarnation) && grounds.replies[1] == Grounds.one {
            try await find(.flightWithoutLock, Self.name(id), grounds, in: partition) { $0.write("HDEL", holder, .bytes(id)) }
        }
    }

    /// Whether the score of a process is the end of a lease. It is below zero where the lease ended and all was taken back.
    private static func isLease(_ score: [UInt8]?) -> Bool { score.map { $0.first != UInt8(ascii: "-") } ?? false }

    private static func holds(_ bytes: [UInt8]?, _ incarnation: [UInt8]) -> Bool {
        guard let lock = bytes.flatMap({ URLLock($0) }) else { return false }
        return lock.kind != .retry && lock.token.incarnation.bytes == incarnation
    }

    private static let mostPassed = 50_000

    /// Followers have a timer. Where it names no time, a lock or a list aside leads to them.
    mutating func check(followers lists: [Key], in partition: Partition) async throws {
        let keys = partition.keys
        let groups = lists.map { list in
            [RedisCommand("LINDEX", keys.followers(list.rest, of: list.queue), 0), RedisCommand("HGET", keys.locks, .bytes(list.rest))]
                + Priority.allCases.map {
                    RedisCommand("ZSCORE", keys.timers($0, of: list.queue), .bytes(JobList.followers(id: list.rest).member))
                }
        }
        let all = try await grounds(groups)
        // A script that sets a timer to the present has done so before this moment.
        let now = lists.isEmpty ? 0 : try await state.now(in: partition)
        for (index, (list, known)) in zip(lists, all).enumerated() {
            guard let block = known.replies[0].flatMap({ Block($0) }) else { continue }
            var grounds = known
            if let timer = known.replies[2...].compactMap({ $0 }).first {
                if Self.isLed(timer, lock: known.replies[1], queue: list.queue, now: now) { continue }
                let asides = Priority.allCases.map {
                    RedisCommand(
                        "LPOS", keys.aside(Array(block.host.utf8), $0, of: list.queue), .bytes(list.rest), "MAXLEN",
                        .integer(Self.mostPassed))
                }
                grounds = try await self.grounds([groups[index] + asides])[0]
                // The next audit looks at followers that have changed meanwhile.
                if !grounds.replies.starts(with: known.replies) { continue }
                if grounds.replies.suffix(asides.count).contains(where: { $0 != nil }) { continue }
            }
            try await find(parked: list, block, grounds, now: now, in: partition)
        }
    }

    /// Whether a timer or a lock leads to followers. Without a lock, nothing but that lock's deadline may have set a time to come.
    private static func isLed(_ timer: [UInt8], lock: [UInt8]?, queue: String, now: Int) -> Bool {
        if timer != Array("inf".utf8), lock != nil || (Int(String(decoding: timer, as: UTF8.self)) ?? 0) <= now { return true }
        return lock.flatMap { URLLock($0) }?.followers.contains { $0.queue == queue } ?? false
    }

    /// Notes followers that nothing leads to. Mended, they are looked at now.
    private mutating func find(parked list: Key, _ block: Block, _ grounds: Grounds, now: Int, in partition: Partition) async throws {
        let keys = partition.keys
        let asked = RedisCommand("HGET", keys.batch(block.batch, of: list.queue), "priority")
        let number = try await state.answers(to: [asked])[0].asOptionalString()
        let priority = number.flatMap { Int($0) }.flatMap { Priority(number: $0) } ?? .normal
        try await find(.parkedWithoutFlight, Self.name(list.rest), grounds, queue: list.queue, in: partition) { commit in
            commit.write("ZADD", keys.timers(priority, of: list.queue), .integer(now), .bytes(JobList.followers(id: list.rest).member))
            commit.effect = .wakes(1)
        }
    }

    /// A list of jobs aside or delayed, and the timers in which it has one. Nil for a list of suspects, whose timer comes and goes with the
    /// workers that may take one, and for one that no script writes.
    private static func waiting(
        _ list: Key, _ keys: Keys
    ) -> (jobs: JobList, key: RedisArgument, timers: RedisArgument, queue: String, example: String)? {
        let parts = list.rest.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false).map { Array($0) }
        guard parts.count == 2, ![[UInt8(ascii: "?")], [UInt8(ascii: "!")]].contains(parts[1]),
            let priority = Priority(rawValue: String(decoding: parts[0], as: UTF8.self))
        else { return nil }
        let (name, queue) = (String(decoding: parts[1], as: UTF8.self), list.queue)
        let timers = keys.timers(priority, of: queue)
        if list.kind == "aside" {
            let key = keys.aside(parts[1], priority, of: queue)
            return (.aside(host: parts[1]), key, timers, queue, "the host \(name) in the queue \(queue)")
        }
        guard let delay = Int(name) else { return nil }
        let key = keys.delayed(delay, priority, of: queue)
        return (.delayed(delay: delay), key, timers, queue, "the delay of \(delay) ms in the queue \(queue)")
    }

    /// A list of jobs aside or delayed has its timer.
    mutating func check(waiting lists: [Key], in partition: Partition) async throws {
        let found = lists.compactMap { Self.waiting($0, partition.keys) }
        let all = try await grounds(
            found.map { [RedisCommand("ZSCORE", $0.timers, .bytes($0.jobs.member)), RedisCommand("EXISTS", $0.key)] })
        for (one, grounds) in zip(found, all) where grounds.replies == [nil, Grounds.one] {
            let now = try await state.now(in: partition)
            try await find(.heldNotDue, one.example, grounds, queue: one.queue, in: partition) { commit in
                commit.write("ZADD", one.timers, .integer(one.jobs.score(at: now)), .bytes(one.jobs.member))
                commit.effect = .wakes(1)
            }
        }
    }

    /// A lock is known to its holder. A URL that waits for its next attempt has followers.
    mutating func lookAtLocks(in partition: Partition) async throws {
        try await state.scan("HSCAN", partition.keys.locks) { items in
            var locks: [(id: [UInt8], lock: URLLock)] = []
            for (id, record) in items.pairs {
                let id = try id.asBytes()
                if let lock = URLLock(try record.asBytes()) {
                    locks.append((id, lock))
                } else {
                    add(.recordDamaged, "the lock of \(Self.name(id)) in '\(partition.keys.tag)locks'")
                }
            }
            try await check(locks, in: partition)
        }
    }

    private mutating func check(_ locks: [(id: [UInt8], lock: URLLock)], in partition: Partition) async throws {
        let keys = partition.keys
        let all = try await grounds(
            locks.map { id, lock in
                let incarnation = lock.token.incarnation.bytes
                let isThere = RedisCommand("HGET", keys.locks, .bytes(id))
                if lock.kind == .retry {
                    return [isThere] + lock.followers.map { RedisCommand("EXISTS", keys.followers(id, of: $0.queue)) }
                }
                return [
                    isThere, RedisCommand("ZSCORE", keys.leases, .bytes(incarnation)),
                    RedisCommand("HEXISTS", keys.holder(incarnation), .bytes(id)),
                ]
            })
        for ((id, lock), grounds) in zip(locks, all) {
            guard grounds.replies[0] == lock.bytes else { continue }
            let incarnation = lock.token.incarnation.bytes
            if lock.kind == .retry {
                guard grounds.replies[1...].allSatisfy({ $0 == Grounds.none }) else { continue }
                try await find(.retryWithoutJob, Self.name(id), grounds, in: partition) { $0.write("HDEL", keys.locks, .bytes(id)) }
            } else if !Self.isLease(grounds.replies[1]) || grounds.replies[2] == Grounds.none,
                try await find(.lockWithoutFlight, Self.name(id), grounds, in: partition)
            {
                try await takeBack(from: incarnation, id: id, in: partition)
            }
        }
    }
}
