internal import GannetBase
package import GannetRedisClient

/// A partition's part of a queue at one moment.
///
/// Jobs that stand aside are counted nowhere. Where no block is ready, all ready jobs do. Otherwise some of the hosts that are due next are
/// looked at, and their lists are taken to hold blocks like their first few.
package struct PartitionLook {
    let now: Int
    package let counts: QueueCounts
    let samples: [QueueSample]
    let workers: [WorkerStatus]
    let failures: FailureCounts

    /// The queues of the namespace that had workers lately, the latest heartbeat first.
    let others: [String]

    /// Its parts of the batches that were asked for, in their order; `nil` for a batch that is gone.
    var batches: [Batch?] = []

    /// When the oldest waiting job was enqueued, as far as the heads of the lists tell.
    private(set) var oldest: Int?
    package private(set) var waits = QueueWaits()

    /// Hosts that jobs may wait for, as far as they were met, and the jobs that stand aside there.
    private(set) var named: [String] = []
    private var aside: [String: Double] = [:]
    /// The first URLs that wait for their next attempt, and when that is due.
    private(set) var pending: [(id: [UInt8], host: String, at: Int)] = []

    private let hasReadyBlocks: Bool
    /// The first timers of each priority, and how many of them are those of hosts. The times of hosts are not read.
    private var due: [(priority: Priority, members: [(name: [UInt8], at: Int)], hosts: Int)] = []

    static let mostHeads = 4
    private static let mostNamed = 32
    private static let mostTimers = 32
    static let mostOthers = 8
    static let mostLookedAt = 200
    private static let mostWorkers = 1000
    /// A worker that has been silent for longer is no longer listed.
    private static let longestSilence = 600_000

    /// - Parameter replies: The answers to the commands of ``FetchQueue/look(at:)``.
    package init(_ replies: [RedisReply]) throws {
        now = try ClusterState.now(replies.prefix(2).map { .success($0) })
        counts = try QueueCounts(replies[2], dead: try replies[3].asNumber())
        let beside = 4 + 4 * Priority.allCases.count
        let isForOnlookers = replies.count > beside
        let fields = isForOnlookers ? try replies[beside].asArray() : []
        workers = isForOnlookers ? Array(try Self.workers(replies[beside], now: now).prefix(Self.mostWorkers)) : []
        others = isForOnlookers ? try Self.queues(replies[beside + 1], now: now) : []
        failures = try FailureCounts(fields)
        let history = try fields.pairs.first { try $0.name.asString() == "history" }
        samples = try history.map { QueueSample.read(try $0.value.asBytes()) } ?? []
        var hasReadyBlocks = false
        for (index, priority) in Priority.allCases.enumerated() {
            let part = Array(replies[(4 + 4 * index)...].prefix(4))
            let heads = try part[0].asArray().map { try $0.asBytes() }
            hasReadyBlocks = hasReadyBlocks || !heads.isEmpty
            var members = try part[1].asArray().pairs.map { member in
                (name: try member.name.asBytes(), at: Int(inRedis: try member.value.asString()) ?? 0)
            }
            members += try part[2].asArray().map { (name: try $0.asBytes(), at: 0) }
            due.append((priority, members, try part[3].asNumber()))
            for head in heads { oldest = Self.earlier(oldest, head) }
        }
        self.hasReadyBlocks = hasReadyBlocks
        waits.delayed = max(0, counts.delayed)
        waits.parked = max(0, counts.parked)
    }

    /// The commands that look at the first timers of a priority: those of URLs and delays, and those of hosts.
    static func timerCommands(_ timers: RedisArgument) -> [RedisCommand] {
        let behind = RedisArgument.integer(Keys.hostsBehind)
        return [
            RedisCommand(
                "ZRANGE", timers, "-inf", .string("(\(Keys.hostsBehind)"), "BYSCORE", "LIMIT", 0, .integer(mostTimers), "WITHSCORES"),
            RedisCommand("ZRANGE", timers, behind, "(inf", "BYSCORE", "LIMIT", 0, .integer(mostTimers)),
            RedisCommand("ZCOUNT", timers, behind, "(inf"),
        ]
    }

    /// The commands that look at the heads of the lists to which the timers lead.
    func asideCommands(_ keys: Keys, of queue: String) -> [RedisCommand] {
        due.flatMap { priority, members, _ in
            members.flatMap { member, _ -> [RedisCommand] in
                let name = Array(member.dropFirst())
                switch member.first {
                case UInt8(ascii: "h"):
                    let key = keys.aside(name, priority, of: queue)
                    return [
                        RedisCommand("LLEN", key), RedisCommand("LLEN", LongList.names(of: key)),
                        RedisCommand("LRANGE", key, 0, .integer(Self.mostHeads - 1)),
                    ]
                case UInt8(ascii: "u"): return [RedisCommand("LRANGE", keys.followers(name, of: queue), 0, 0)]
                default: return []
                }
            }
        }
    }

    /// - Parameters:
    ///   - replies: The answers to ``asideCommands(_:of:)``.
    ///   - partBytes: How long the parts of a list are.
    package mutating func note(_ replies: [RedisReply], partBytes: Int) throws {
        var rest = replies[...]
        var held = 0.0
        var hosts = 0.0
        for (_, members, all) in due {
            let share = Double(all) / Double(max(1, members.count { $0.name.first == UInt8(ascii: "h") }))
            for (member, at) in members {
                if member.first == UInt8(ascii: "u"), let first = try rest.popFirst()?.asArray().first?.asBytes() {
                    noteFollower(first, of: Array(member.dropFirst()), at: at)
                }
                guard member.first == UInt8(ascii: "h"), let first = try rest.popFirst()?.asNumber(),
                    let others = try rest.popFirst()?.asNumber(), let list = rest.popFirst()
                else { continue }
                let host = String(decoding: member.dropFirst(), as: UTF8.self)
                name(host)
                let heads = try list.asArray().map { try $0.asBytes() }
                for head in heads { oldest = Self.earlier(oldest, head) }
                var length = Double(first)
                if let head = heads.first { length += Double(others) * Double(partBytes / max(1, head.count)) }
                let sizes = heads.map { Block($0)?.count ?? 1 }
                let jobs = length * Double(sizes.reduce(0, +)) / Double(max(1, sizes.count))
                hosts += share
                held += share * jobs
                aside[host, default: 0] += jobs
            }
        }
        waits.hosts = max(0, Int(hosts))
        waits.held = max(0, hosts > 0 && !hasReadyBlocks ? counts.ready : Int(min(Double(counts.ready), held)))
        if counts.ready <= 0 { oldest = nil }
    }

    /// - Parameters:
    ///   - first: The first of the jobs that follow the URL.
    ///   - at: When the next attempt is due, or when the lock of another fetch ends at the latest.
    private mutating func noteFollower(_ first: [UInt8], of id: [UInt8], at: Int) {
        guard let block = Block(first) else { return }
        switch block.followerState {
        case .parked: waits.parkedUntil = max(waits.parkedUntil ?? at, at)
        case .delayed: if pending.count < QueueWaits.mostRetries { pending.append((id, block.host, at)) }
        // A job that came back waits for a worker, and counts as ready.
        case .ready: oldest = Self.earlier(oldest, first)
        case .active, .dead: break
        }
        name(block.host)
    }

    private mutating func name(_ host: String) {
        if named.count < Self.mostNamed, !named.contains(host) { named.append(host) }
    }

    /// The commands that look at the hosts, and at the URLs that wait for their next attempt.
    func standingCommands(_ keys: Keys) -> [RedisCommand] {
        named.map { HostStanding.command($0, keys) } + pending.map { RedisCommand("HGET", keys.locks, .bytes($0.id)) }
    }

    /// - Parameter replies: The answers to ``standingCommands(_:)``.
    mutating func note(standings replies: [RedisReply]) throws {
        waits.add(
            try zip(named, replies).compactMap { host, reply in
                WaitingHost(host, try HostStanding(reply, of: host, at: now), at: now, jobs: Int(aside[host] ?? 0))
            })
        waits.retries = try zip(pending, replies.dropFirst(named.count)).compactMap { url, reply in
            guard let lock = try reply.asOptionalBytes().flatMap({ URLLock($0) }), lock.kind == .retry else { return nil }
            return WaitingHost(
                name: url.host, errorClass: OutcomeContent(lock.failure)?.fields[.errorClass], rest: .milliseconds(max(0, url.at - now)),
                since: lock.throttled > 0 ? .milliseconds(max(0, now - lock.throttled)) : nil)
        }.sorted { $0.rest < $1.rest }
    }

    private static func earlier(_ time: Int?, _ element: [UInt8]) -> Int? {
        guard let enqueued = Block(element)?.enqueued else { return time }
        return min(time ?? enqueued, enqueued)
    }

    /// The workers among the fields of a queue's hash, the latest heartbeat first.
    static func workers(_ reply: RedisReply, now: Int) throws -> [WorkerStatus] {
        let fields = try reply.asArray().pairs.map { (name: try $0.name.asString(), value: $0.value) }
        let drained = Set(fields.map(\.name).filter { $0.hasPrefix(WorkerField.drains) })
        let workers = try fields.compactMap { name, value -> WorkerStatus? in
            guard name.hasPrefix(WorkerField.records) else { return nil }
            var reader = ByteReader(try value.asBytes())
            guard let heard = reader.number(6), now - heard <= longestSilence else { return nil }
            let id = String(name.dropFirst(WorkerField.records.count))
            return WorkerStatus(
                id: id, heartbeat: .milliseconds(max(0, now - heard)), record: WorkerRecord(Array(reader.all())),
                isAskedToDrain: drained.contains(WorkerField.drain(id)))
        }
        return workers.sorted { ($0.heartbeat, $0.id) < ($1.heartbeat, $1.id) }
    }

    /// The queues that had workers lately, the latest heartbeat first.
    static func queues(_ reply: RedisReply, now: Int) throws -> [String] {
        let mark = "queue:"
        let queues = try reply.asArray().pairs.compactMap { field, value -> (name: String, heard: Int)? in
            let name = try field.asString()
            guard name.hasPrefix(mark), let heard = Int(inRedis: try value.asString()), now - heard <= longestSilence else { return nil }
            return (String(name.dropFirst(mark.count)), heard)
        }
        return queues.sorted { ($1.heard, $0.name) < ($0.heard, $1.name) }.map(\.name)
    }
}
