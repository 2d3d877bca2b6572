internal import GannetBase
internal import GannetRedisClient

/// Drift that shows in a few keys. Plain commands find what looks wrong. One step then tells whether it is so, and mends it when asked.
extension Audit {
    /// The types of keys, by the beginnings of their names.
    private static let types = [
        "holder": "hash", "outcome": "string", "queue": "hash", "batches": "zset", "batch": "hash", "finished": "list", "ready": "list",
        "timers": "zset", "followers": "list",
        "aside": "list", "delayed": "list", "dead": "zset", "idle": "zset",
    ]

    /// The keys of the whole partition.
    private static let mainTypes = [("state", "hash"), ("hosts", "hash"), ("locks", "hash"), ("leases", "zset")]

    /// A key of the partition: its queue, the beginning of its name, and the rest of that.
    private struct Key {
        var queue: String?
        let kind: String
        let rest: [UInt8]

        init(_ name: [UInt8]) {
            var own = name[...]
            if name.starts(with: "q:".utf8), let end = name.dropFirst(2).firstIndex(of: UInt8(ascii: ":")) {
                queue = String(decoding: name[2..<end], as: UTF8.self)
                own = name[(end + 1)...]
            }
            let kind = own.prefix { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
            self.kind = String(decoding: kind, as: UTF8.self)
            rest = Array(own.dropFirst(kind.count + 1))
        }
    }

    /// A list of a queue.
    private struct List {
        let queue: String
        let kind: String
        let name: [UInt8]
    }

    /// Answers whether the keys to which all others lead can be read.
    mutating func lookAtMainKeys(in partition: Partition) async throws -> Bool {
        let types = try await pipeline(Self.mainTypes.map { RedisCommand("TYPE", .string(partition.keys.tag + $0.0)) })
        var isGood = true
        for ((name, expected), type) in zip(Self.mainTypes, types) where !["none", expected].contains(try type.asString()) {
            add(.wrongType, "'\(partition.keys.tag)\(name)', which has to be a \(expected)")
            isGood = false
        }
        return isGood
    }

    /// Answers the queues that it met.
    mutating func lookAtKeys(in partition: Partition) async throws -> Set<String> {
        var queues: Set<String> = []
        var cursor = "0"
        repeat {
            let page = try await keys(of: partition, from: cursor)
            let types = try await pipeline(page.names.map { RedisCommand("TYPE", .bytes(Array(partition.keys.tag.utf8) + $0)) })
            var known: [Key] = []
            for (name, type) in zip(page.names, types) {
                let (key, found) = (Key(name), try type.asString())
                if let queue = key.queue, key.kind == "queue" || key.kind == "batches" { queues.insert(queue) }
                guard let expected = Self.types[key.kind], found != "none" else { continue }
                if found == expected {
                    known.append(key)
                } else {
                    add(
                        .wrongType,
                        "'\(partition.keys.tag)\(String(decoding: name, as: UTF8.self).shown(standIn: "?"))', which has to be a \(expected)"
                    )
                }
            }
            for key in known where key.kind == "holder" { try await check(holder: key.rest, in: partition) }
            // Behind the name of a long list stand those of its parts.
            let firsts = known.filter { $0.kind == "followers" ? $0.rest.count == URLID.count : !$0.rest.contains(UInt8(ascii: "#")) }
            let lists = firsts.compactMap { key in key.queue.map { List(queue: $0, kind: key.kind, name: key.rest) } }
            try await check(followers: lists.filter { $0.kind == "followers" }, in: partition)
            try await check(waiting: lists.filter { $0.kind == "aside" || $0.kind == "delayed" }, in: partition)
            cursor = page.next
        } while cursor != "0"
        return queues
    }

    private func pipeline(_ commands: [RedisCommand]) async throws -> [RedisReply] {
        try await state.connection.pipeline(commands).map { try $0.get() }
    }

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
        var replies = try await pipeline(groups.flatMap { $0 })[...]
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
    private mutating func check(holder incarnation: [UInt8], in partition: Partition) async throws {
        let (keys, holder) = (partition.keys, partition.keys.holder(incarnation))
        let lease = try await grounds([[RedisCommand("ZSCORE", keys.leases, .bytes(incarnation)), RedisCommand("EXISTS", holder)]])[0]
        if !Self.isLease(lease.replies[0]), lease.replies[1] == Grounds.one,
            try await find(.leaseWithoutExpiry, "a lease without an end", lease, in: partition)
        {
            try await takeBack(from: incarnation, in: partition)
        }
        let ids = try await pipeline([RedisCommand("HKEYS", holder)])[0].asArray().map { try $0.asBytes() }.filter {
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
    private mutating func check(followers lists: [List], in partition: Partition) async throws {
        let keys = partition.keys
        let groups = lists.map { list in
            [RedisCommand("LINDEX", keys.followers(list.name, of: list.queue), 0), RedisCommand("HGET", keys.locks, .bytes(list.name))]
                + Priority.allCases.map {
                    RedisCommand("ZSCORE", keys.timers($0, of: list.queue), .bytes(JobPlace.followers(id: list.name).member))
                }
        }
        let all = try await grounds(groups)
        // A script that sets a timer to the present has done so before this moment.
        let now = lists.isEmpty ? 0 : try await state.now(in: partition)
        for (index, (list, known)) in zip(lists, all).enumerated() {
            guard let block = known.replies[0].flatMap({ Block($0) }) else { continue }
            var grounds = known
            if let at = known.replies[2...].compactMap({ $0 }).first {
                let lock = known.replies[1].flatMap { URLLock($0) }
                // Without a lock, nothing but that lock's deadline may have set a time to come.
                let isLed = at != Array("inf".utf8) && (known.replies[1] != nil || (Int(String(decoding: at, as: UTF8.self)) ?? 0) <= now)
                if isLed || lock?.followers.contains(where: { $0.queue == list.queue }) == true { continue }
                let asides = Priority.allCases.map {
                    RedisCommand(
                        "LPOS", keys.aside(Array(block.host.utf8), $0, of: list.queue), .bytes(list.name), "MAXLEN",
                        .integer(Self.mostPassed))
                }
                grounds = try await self.grounds([groups[index] + asides])[0]
                // The next audit looks at followers that have changed meanwhile.
                if !grounds.replies.starts(with: known.replies) { continue }
                if grounds.replies.suffix(asides.count).contains(where: { $0 != nil }) { continue }
            }
            let asked = RedisCommand("HGET", keys.batch(block.batch, of: list.queue), "priority")
            let number = try await pipeline([asked])[0].asOptionalString()
            let priority = number.flatMap { Int($0) }.flatMap { Priority(number: $0) }
            let timers = keys.timers(priority ?? .normal, of: list.queue)
            try await find(.parkedWithoutFlight, Self.name(list.name), grounds, queue: list.queue, in: partition) { commit in
                commit.write("ZADD", timers, .integer(now), .bytes(JobPlace.followers(id: list.name).member))
                commit.effect = .wakes(1)
            }
        }
    }

    /// A list of jobs aside or delayed has its timer; the suspects' comes and goes with the workers that may take one.
    private mutating func check(waiting lists: [List], in partition: Partition) async throws {
        let keys = partition.keys
        let found = lists.compactMap {
            list -> (place: JobPlace, key: RedisArgument, timers: RedisArgument, example: String, queue: String)? in
            let parts = list.name.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false).map { Array($0) }
            guard parts.count == 2, ![[UInt8(ascii: "?")], [UInt8(ascii: "!")]].contains(parts[1]),
                let priority = Priority(rawValue: String(decoding: parts[0], as: UTF8.self))
            else { return nil }
            let (name, timers) = (String(decoding: parts[1], as: UTF8.self), keys.timers(priority, of: list.queue))
            if list.kind == "aside" {
                let key = keys.aside(parts[1], priority, of: list.queue)
                return (.aside(host: parts[1]), key, timers, "the host \(name) in the queue \(list.queue)", list.queue)
            }
            guard let delay = Int(name) else { return nil }
            let key = keys.delayed(delay, priority, of: list.queue)
            return (.delayed(delay: delay), key, timers, "the delay of \(delay) ms in the queue \(list.queue)", list.queue)
        }
        let all = try await grounds(
            found.map { [RedisCommand("ZSCORE", $0.timers, .bytes($0.place.member)), RedisCommand("EXISTS", $0.key)] })
        for (one, grounds) in zip(found, all) where grounds.replies == [nil, Grounds.one] {
            let now = try await state.now(in: partition)
            try await find(.heldNotDue, one.example, grounds, queue: one.queue, in: partition) { commit in
                commit.write("ZADD", one.timers, .integer(one.place.score(at: now)), .bytes(one.place.member))
                commit.effect = .wakes(1)
            }
        }
    }

    /// A lock is known to its holder. A URL that waits for its next attempt has followers.
    mutating func lookAtLocks(in partition: Partition) async throws {
        let keys = partition.keys
        var cursor = "0"
        repeat {
            let page = try await state.connection.send(RedisCommand("HSCAN", keys.locks, .string(cursor), "COUNT", "500"))
                .fields(2, of: "HSCAN")
            let items = try page[1].asArray().map { try $0.asBytes() }
            var locks: [(id: [UInt8], lock: URLLock)] = []
            for index in stride(from: 0, to: items.count - 1, by: 2) {
                if let lock = URLLock(items[index + 1]) {
                    locks.append((items[index], lock))
                } else {
                    add(.recordDamaged, "the lock of \(Self.name(items[index])) in '\(partition.keys.tag)locks'")
                }
            }
            try await check(locks, in: partition)
            cursor = try page[0].asString()
        } while cursor != "0"
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
