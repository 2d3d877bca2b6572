import GannetBase
import GannetRedisClient
import GannetTestKit

@testable import GannetQueue

typealias Bytes = [UInt8]

/// Everything that a partition has in Redis, read without any script of the product.
struct StateLook: Sendable {
    struct Lock: Sendable {
        let kind: Character
        let token: Bytes
        let began: Int
        let deadline: Int
        let crashes: Int
        let failures: Int
        let flags: Int
        let queue: String
        /// Queues with followers, each with the priority of their timer.
        let followers: [(queue: String, priority: Int)]
        let job: Jobs?

        var incarnation: Bytes { Array(token[8...]) }
        var isSuspect: Bool { flags & 1 != 0 }
        /// The part that the lock takes of the weight of suspects which a worker may hold.
        var weight: Int { isSuspect && kind != "A" && crashes < 3 ? (crashes > 1 ? StateLook.alone : 1) : 0 }
        var isPutOffByHost: Bool { flags & 4 != 0 }
        /// The place of the request is that of the job's own host.
        var hasOwnPlace: Bool { kind == "L" && flags & (2 | 8) == 0 }
    }

    struct Host: Sendable {
        let running: Int
        let earned: Int
        let next: Int
        let cool: Int
        let failures: Int
        let probing: Int
        let down: Int
        let offered: Int
        let waiting: [String]
    }

    /// The jobs of a block.
    struct Jobs: Sendable {
        let kind: Int
        let batch: Int
        let enqueued: Int
        let host: String
        /// Each with the rest of its URL, and with its number where the URL has one.
        let jobs: [(id: Bytes, rest: String, serial: Int?)]

        var flags: Int { kind & 48 }
    }

    struct Queue: Sendable {
        var counters: [String: Bytes] = [:]
        var batches: [Int: [String: String]] = [:]
        var ready: [String: [Jobs]] = [:]
        /// By priority and host. An element without jobs is the id of a URL to carry on.
        var aside: [String: [(jobs: Jobs?, id: Bytes)]] = [:]
        var followers: [Bytes: [Jobs]] = [:]
        /// By priority and delay.
        var delayed: [String: [Jobs]] = [:]
        var timers: [String: [Bytes: Double]] = [:]

        func count(_ name: String) -> Int { counters[name].flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0 }
    }

    /// The keys' names after the tag, as people read them.
    var keys: [String] { raw.keys.map(StateDump.shown) }
    /// The values of each key, as Redis has them, and with the parts of each long list as one value.
    private var raw: [Bytes: [Bytes]] = [:], values: [Bytes: [Bytes]] = [:]
    private var longLists: Set<Bytes> = []
    private var rawLocks: [Bytes: Bytes] = [:]
    var wall = 0, shift = 0, lived = 0
    var hasClock = false
    var locks: [Bytes: Lock] = [:]
    var hosts: [String: Host] = [:]
    var rules: [String: String] = [:]
    var leases: [Bytes: Double] = [:]
    var holders: [Bytes: [Bytes: Bytes]] = [:]
    var outcomes: [Bytes: Bytes] = [:]
    var queues: [String: Queue] = [:]
    /// Where each job is, by the number in its URL's query.
    var places: [Int: Place] = [:]
    /// Values that cannot be read.
    var unreadable: [String] = []
    /// Jobs that are in two places.
    var doubled: [String] = []

    struct Place: Sendable {
        enum Kind { case ready, aside, follower, delayed, locked, delivered }
        let kind: Kind
        let queue: String
        let id: Bytes
        /// A worker has the job.
        var isHeld: Bool { kind == .locked || kind == .delivered }
    }

    static let priorities = ["high", "normal", "low"]
    static let deliveryField = UInt8(ascii: "d"), placeField = UInt8(ascii: "p")
    static let gone: Bytes = [UInt8(ascii: "t")]

    /// Whether a worker still has a job that was handed out to be delivered. Where it was taken back, another worker may have it instead.
    func isDelivering(_ token: Bytes) -> Bool { holders[Array(token[8...])]?[[Self.deliveryField] + token] != nil }

    /// Queue time at a time of the server's clock.
    func now(at wall: Int) -> Int { max(wall, self.wall) + shift }
}

extension StateLook {
    /// Answers the keys whose values have changed since the last look that a caller has noted, each with its value, or alone where it is
    /// gone. With `ARGV[2]` empty it answers all keys, and notes nothing. The notes are digests, in a key beside the partition.
    private static let script = """
        local found, noted, left = {}, nil, {}
        if ARGV[2] ~= '' then
            local notes = redis.call('HGETALL', ARGV[2])
            for i = 1, #notes, 2 do left[notes[i]] = notes[i + 1] end
        end
        for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
            local digest, isNew = nil, true
            if ARGV[2] ~= '' then
                digest = redis.sha1hex(redis.call('DUMP', key))
                isNew, left[key] = left[key] ~= digest, nil
            end
            if isNew then
                if digest then redis.call('HSET', ARGV[2], key, digest) end
                local kind, value = redis.call('TYPE', key).ok, nil
                if kind == 'string' then value = {redis.call('GET', key)}
                elseif kind == 'list' then value = redis.call('LRANGE', key, 0, -1)
                elseif kind == 'hash' then value = redis.call('HGETALL', key)
                else value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end
                found[#found + 1] = {key, value}
            end
        end
        for key in pairs(left) do
            redis.call('HDEL', ARGV[2], key)
            found[#found + 1] = {key}
        end
        return found
        """

    /// Looks at everything.
    init(_ redis: RedisConnection, tag: String) async throws {
        try note(try await Self.ask(redis, tag: tag, notes: ""), tag: tag)
    }

    /// Looks at what has changed since this look. Only one caller may look at a partition so, beginning with an empty look at an empty
    /// partition.
    /// - Returns: `false` where nothing has changed.
    mutating func refresh(_ redis: RedisConnection, tag: String) async throws -> Bool {
        let news = try await Self.ask(redis, tag: tag, notes: "look" + tag)
        if !news.isEmpty { try note(news, tag: tag) }
        return !news.isEmpty
    }

    private static func ask(_ redis: RedisConnection, tag: String, notes: String) async throws -> [RedisReply] {
        try await redis.send(RedisCommand("EVAL", .string(script), 0, .string(tag), .string(notes)), at: .string(tag)).asArray()
    }

    private mutating func note(_ news: [RedisReply], tag: String) throws {
        var touched: Set<Bytes> = []
        for item in news {
            let fields = try item.asArray()
            let key = Array(try fields[0].asBytes().dropFirst(tag.utf8.count))
            touched.insert(key)
            guard fields.count == 2 else {
                raw[key] = nil
                continue
            }
            var values: [Bytes] = []
            for value in try fields[1].asArray() { values.append(try value.asBytes()) }
            raw[key] = values
        }
        let (joined, lists) = Self.joined(raw)
        for key in touched.union(lists).union(longLists) where joined[key] != values[key] { note(key, joined[key] ?? []) }
        (values, longLists) = (joined, lists)
        queues = queues.filter { !$0.value.isGone }
        findPlaces()
    }

    /// Puts the parts of each long list together. A list of the numbers of parts has nothing but numbers.
    /// - Returns: The lists' names besides.
    private static func joined(_ raw: [Bytes: [Bytes]]) -> ([Bytes: [Bytes]], Set<Bytes>) {
        var all = raw
        var lists: Set<Bytes> = []
        for (names, numbers) in raw where names.last == UInt8(ascii: "#") {
            guard numbers.allSatisfy({ Int(String(decoding: $0, as: UTF8.self)) != nil }) else { continue }
            all[names] = nil
            let others = numbers.flatMap { all.removeValue(forKey: names + $0) ?? [] }
            let list = Array(names.dropLast())
            lists.insert(list)
            if !others.isEmpty { all[list, default: []] += others }
        }
        return (all, lists)
    }

    /// Notes all that a key has; nothing for a key that is gone.
    private mutating func note(_ key: Bytes, _ values: [Bytes]) {
        let parts = key.split(separator: UInt8(ascii: ":"), maxSplits: 3, omittingEmptySubsequences: false)
        switch String(decoding: parts[0], as: UTF8.self) {
        case "state":
            guard let clock = Self.pairs(values).first(where: { $0.0 == Array("clock".utf8) })?.1 else {
                (wall, shift, lived, hasClock) = (0, 0, 0, false)
                return
            }
            var reader = ByteReader(clock)
            (wall, shift, lived) = (reader.number(6) ?? 0, reader.number(6) ?? 0, reader.number(6) ?? 0)
            hasClock = true
        case "locks":
            var (found, foundRaw): ([Bytes: Lock], [Bytes: Bytes]) = ([:], [:])
            for (id, value) in Self.pairs(values) {
                foundRaw[id] = value
                if let lock = rawLocks[id] == value ? locks[id] : Self.lock(value) {
                    found[id] = lock
                } else {
                    unreadable.append("a lock")
                }
            }
            (locks, rawLocks) = (found, foundRaw)
        case "hosts":
            (hosts, rules) = ([:], [:])
            for (name, value) in Self.pairs(values) {
                let name = String(decoding: name, as: UTF8.self)
                if name.hasPrefix("=") {
                    rules[name] = String(decoding: value, as: UTF8.self)
                } else if name.hasPrefix("?") {
                    // When a queue was in use.
                    continue
                } else if let host = Self.host(value) {
                    hosts[name] = host
                } else {
                    unreadable.append("a host")
                }
            }
        case "leases":
            leases = [:]
            for (name, score) in Self.pairs(values) { leases[name] = Self.score(score) }
        case "holder":
            let id = Array(key.dropFirst("holder:".utf8.count))
            holders[id] = values.isEmpty ? nil : Dictionary(Self.pairs(values)) { $1 }
        case "outcome": outcomes[Array(key.dropFirst("outcome:".utf8.count))] = values.first
        case "q" where parts.count >= 3:
            let rest = Array(key.dropFirst(3 + parts[1].count + parts[2].count + 1))
            let name = String(decoding: parts[1], as: UTF8.self)
            queues[name, default: Queue()].note(String(decoding: parts[2], as: UTF8.self), rest, values, &unreadable)
        default: break
        }
    }

    static func pairs(_ values: [Bytes]) -> [(Bytes, Bytes)] {
        stride(from: 0, to: values.count - 1, by: 2).map { (values[$0], values[$0 + 1]) }
    }

    static func score(_ bytes: Bytes) -> Double { Double(String(decoding: bytes, as: UTF8.self)) ?? .infinity }
}

extension StateLook.Queue {
    /// Whether no key of the queue is left.
    var isGone: Bool {
        counters.isEmpty && batches.isEmpty && ready.isEmpty && aside.isEmpty && followers.isEmpty && delayed.isEmpty && timers.isEmpty
    }

    mutating func note(_ kind: String, _ rest: Bytes, _ values: [Bytes], _ unreadable: inout [String]) {
        func read(_ bytes: Bytes) -> StateLook.Jobs? {
            if bytes == StateLook.gone { return nil }
            if let jobs = StateLook.jobs(bytes) { return jobs }
            unreadable.append("an element of \(kind)")
            return nil
        }
        let name = String(decoding: rest, as: UTF8.self)
        let isGone = values.isEmpty
        switch kind {
        case "queue":
            counters = [:]
            for (field, value) in StateLook.pairs(values) { counters[String(decoding: field, as: UTF8.self)] = value }
        case "batch":
            let fields = StateLook.pairs(values).map { (String(decoding: $0, as: UTF8.self), String(decoding: $1, as: UTF8.self)) }
            batches[Int(name) ?? -1] = isGone ? nil : Dictionary(fields) { $1 }
        case "ready": ready[name] = isGone ? nil : values.compactMap(read)
        case "aside":
            aside[name] = isGone ? nil : values.filter { $0 != StateLook.gone }.map { $0.count == 16 ? (nil, $0) : (read($0), []) }
        case "delayed": delayed[name] = isGone ? nil : values.compactMap(read)
        case "followers": followers[rest] = isGone ? nil : values.compactMap(read)
        case "timers":
            timers[name] = isGone ? nil : Dictionary(StateLook.pairs(values).map { ($0, StateLook.score($1)) }) { $1 }
        default: break
        }
    }

    /// The delayed blocks of a priority that are due at a time.
    func due(_ priority: String, at now: Int) -> [StateLook.Jobs] {
        delayed.flatMap { place, blocks in
            let parts = place.split(separator: ":").map(String.init)
            return parts[0] == priority ? blocks.filter { $0.enqueued + (Int(parts[1]) ?? 0) <= now } : []
        }
    }

    /// When the queue looks at the followers of a URL.
    func looks(at id: Bytes) -> Double? { timers.values.compactMap { $0[[UInt8(ascii: "u")] + id] }.min() }

    /// Whether a URL stands aside, to be carried on.
    func isAside(_ id: Bytes) -> Bool { aside.values.contains { $0.contains { $0.jobs == nil && $0.id == id } } }

    func isOver(_ batch: Int) -> Bool { batches[batch].map { $0["state"] == "cancelled" } ?? true }
}

extension Character {
    /// Whether somebody fetches the URL of a lock of this kind.
    var isHeld: Bool { self == "L" || self == "A" }
}

extension StateLook {
    /// The number of a job, which the model's URLs have as their query.
    static func serial(_ rest: String) -> Int? { serial(Array(rest.utf8)[...]) }

    static func serial(_ rest: ArraySlice<UInt8>) -> Int? {
        guard let mark = rest.lastIndex(of: UInt8(ascii: "?")) else { return nil }
        return Int(String(decoding: rest[(mark + 1)...], as: UTF8.self))
    }

    private mutating func findPlaces() {
        (places, doubled) = ([:], [])
        func note(_ block: Jobs?, _ kind: Place.Kind, _ queue: String) {
            for job in block?.jobs ?? [] {
                guard let serial = job.serial else { continue }
                if places[serial] != nil { doubled.append("job \(serial) is in two places, and the second") }
                places[serial] = Place(kind: kind, queue: queue, id: job.id)
            }
        }
        for (name, queue) in queues {
            for block in queue.ready.values.joined() { note(block, .ready, name) }
            for element in queue.aside.values.joined() { note(element.jobs, .aside, name) }
            for block in queue.followers.values.joined() { note(block, .follower, name) }
            for block in queue.delayed.values.joined() { note(block, .delayed, name) }
        }
        for lock in locks.values { note(lock.job, .locked, lock.queue) }
        for (field, value) in holders.values.joined() where field.count == 17 && field[0] == Self.deliveryField {
            if let delivery = Self.delivery(value) { note(delivery.jobs, .delivered, delivery.queue) }
        }
    }
}
