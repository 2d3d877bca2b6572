import RedisClient
import Testing

@testable import ClusterState

/// The rules that a queue's state keeps at any moment, read from the keys themselves. Counters agree with where jobs lie, and each lease
/// has its end, its place and its lock.
struct StateAudit: Sendable {
    /// One sentence for each broken rule.
    private(set) var problems: [String] = []

    /// Requests in flight by host, as the leases tell.
    private(set) var running: [String: Int] = [:]

    private mutating func expect(_ what: String, _ found: Int, _ said: Int) {
        if found != said { problems.append("\(what): there are \(found), the counters say \(said)") }
    }

    init(_ fixture: QueueFixture) async throws {
        let redis = fixture.redis
        func list(_ command: RedisCommand) async throws -> [[UInt8]] {
            var items: [[UInt8]] = []
            for item in try await redis.send(command).asArray() { items.append(try item.asBytes()) }
            return items
        }
        func keys(_ pattern: String) async throws -> [[UInt8]] {
            try await list(RedisCommand("KEYS", .string("{\(fixture.namespace)}" + pattern)))
        }
        func length(_ patterns: String...) async throws -> Int {
            var sum = 0
            for pattern in patterns {
                for key in try await keys(pattern) {
                    // Headings are not jobs.
                    sum += try await list(RedisCommand("LRANGE", .bytes(key), "0", "-1")).count {
                        $0.first != UInt8(ascii: "h") && $0.first != UInt8(ascii: "H")
                    }
                }
            }
            return sum
        }
        let counts = try await fixture.queue.counts()
        let flights = try await list(RedisCommand("HGETALL", .string(fixture.key("leases"))))
        let moves = try await list(RedisCommand("HGETALL", .string(fixture.key("moved"))))
        let places = stride(from: 0, to: moves.count, by: 2).reduce(into: [[UInt8]: String]()) {
            $0[moves[$1]] = String(decoding: moves[$1 + 1], as: UTF8.self)
        }
        var tokens: Set<[UInt8]> = []
        var active = 0
        var waiting = 0
        for index in stride(from: 0, to: flights.count, by: 2) {
            let (token, flight) = (flights[index], flights[index + 1])
            tokens.insert(token)
            switch flight[0] {
            case UInt8(ascii: "J"), UInt8(ascii: "C"):
                active += 1
                guard let job = Job(token: LockToken(token), job: Array(flight[7...]), outcome: nil, now: 0) else { continue }
                if flight[0] == UInt8(ascii: "J") {
                    running[places[token] ?? job.entry.host, default: 0] += 1
                    let lock = try await redis.send(RedisCommand("GET", .bytes(Array(fixture.key("lock:").utf8) + job.entry.id.bytes)))
                    if try lock.asOptionalBytes() != token { problems.append("\(job.entry.url) is leased and not locked by its lease") }
                }
            case UInt8(ascii: "W"): waiting += 1
            default: break
            }
        }
        if !Set(places.keys).isSubset(of: tokens) { problems.append("a place is noted for nobody's request") }
        let ends = try await list(RedisCommand("ZRANGE", .string(fixture.key("expiry")), "0", "-1"))
        if Set(ends) != tokens { problems.append("\(tokens.count) leases have \(ends.count) ends") }
        for key in try await keys("lock:*") {
            let token = try await redis.send(RedisCommand("GET", .bytes(key))).asBytes()
            if !tokens.contains(token) { problems.append("a lock is nobody's") }
        }
        let hosts = try await list(RedisCommand("HGETALL", .string(fixture.key("hosts"))))
        for index in stride(from: 0, to: hosts.count, by: 2) {
            let name = String(decoding: hosts[index], as: UTF8.self)
            expect("requests to \(name)", running[name] ?? 0, Int(hosts[index + 1][0]) << 8 | Int(hosts[index + 1][1]))
        }
        let later = try await redis.send(RedisCommand("ZCARD", .string(fixture.key(queue: "later")))).asInteger()
        expect("active", active, counts.active)
        expect("parked", try await length("parked:*", "chain:*"), counts.parked)
        expect("delayed", later, counts.delayed)
        expect("waiting", try await length("q:q:ready:*", "q:q:held:*", "q:q:foreign"), counts.ready)
        if waiting > later { problems.append("\(waiting) URLs wait for \(later) next attempts") }
    }
}

extension QueueFixture {
    /// Expects that every rule holds that has to hold at any moment.
    func expectSound(_ comment: String = "", at location: SourceLocation = #_sourceLocation) async throws {
        let problems = try await StateAudit(self).problems
        #expect(problems == [], "\(comment)", sourceLocation: location)
    }

    /// Expects that every job has ended, and that only outcomes are left.
    func expectEnded(_ comment: String = "", at location: SourceLocation = #_sourceLocation) async throws {
        try await expectSound(comment, at: location)
        let counts = try await queue.counts()
        let leftovers = try await leftovers()
        #expect(counts.isEmpty && counts.enqueued == counts.done + counts.failed + counts.cancelled, "\(comment)", sourceLocation: location)
        #expect(leftovers == [], "\(comment)", sourceLocation: location)
    }

    /// Requests in flight, by host.
    func running() async throws -> [String: Int] { try await StateAudit(self).running }

    private func leftovers() async throws -> [String] {
        let kept = [
            "state", "page:", "hosts", "worker:", "q:q:count", "q:q:batch", "q:q:finished:", "q:q:ended", "q:q:dead", "q:q:idle", "rules",
            "q:q:workers", "q:q:beats", "q:q:history", "queues",
        ]
        return try await dump().values.keys.filter { key in !kept.contains { key.hasPrefix($0) } }.sorted()
    }
}
