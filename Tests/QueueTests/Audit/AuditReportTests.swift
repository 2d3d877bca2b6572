import GannetRedisClient
import Testing

@testable import GannetQueue

/// How far an audit looks, and how it reports what it cannot mend.
@Suite struct AuditReportTests {
    @Test func `a namespace whose name looks like a pattern is audited, and no other`() async throws {
        try await QueueFixture.with { other in
            try await other.fill(0..<3)
            try await other.send("DEL", other.queueKey("ready:normal"))
            let namespace = "[\(other.namespace.prefix(1))]*?\\^"
            let cluster = ClusterState(other.redis, namespace: namespace)
            let fixture = QueueFixture(redis: other.redis, cluster: cluster, queue: cluster.queue("q"), namespace: namespace)
            try await fixture.fill(0..<3)
            #expect(try await cluster.audit(mend: false).isEmpty)
            try await fixture.send("DEL", fixture.queueKey("ready:normal"))
            #expect(try await cluster.audit(mend: true).map(\.count) == [3])
            try await fixture.queue.clear()
        }
    }

    @Test func `an audit finds lost parts of batches, and leaves alone what a full partition may have forgotten`()
        async throws
    {
        try await QueueFixture.with(partitions: 3) { fixture in
            for name in ["a", "b"] {
                var progress = try await fixture.queue.begin(batch: name)
                _ = try await fixture.queue.enqueue([], to: 1, of: &progress, closing: true)
            }
            #expect(try await fixture.cluster.audit(mend: false) == [])
            let part = fixture.cluster.partitions[2]
            let number = try #require(try await fixture.queue.number(ofBatch: "a"))
            try await fixture.redis.send(RedisCommand("DEL", part.keys.batch(number, of: fixture.queue.name)))
            try await fixture.redis.send(RedisCommand("ZREM", part.keys.batches(of: fixture.queue.name), "a"))
            let found = try await fixture.cluster.audit(mend: true)
            #expect(found.map(\.kind) == [.batchPartLost] && found.first?.count == 1 && found.first?.isMended == false)
            #expect(found.first?.example == "a of the queue \(fixture.queue.name)")
            // A partition forgets old batches when it has a thousand that ended.
            try await fixture.redis.send(RedisCommand("HSET", part.keys.queue(fixture.queue.name), "kept", 1000))
            #expect(try await fixture.cluster.audit(mend: false).contains { $0.kind == .batchPartLost } == false)
        }
    }

    @Test(arguments: ["holder:incarn01", "outcome:0123456789abcdef"])
    func `a key with a value of another type is reported and left alone`(name: String) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.send("ZADD", .string(name), 1, "x")
            let before = try await fixture.dump()
            let found = try await fixture.cluster.audit(mend: true)
            #expect(found.map(\.kind) == [.wrongType, .notChecked] && found[0].count == 1 && !found[0].isMended)
            #expect(try await fixture.dump() == before)
        }
    }

    @Test(arguments: ["state", "hosts", "locks", "leases"])
    func `a key of the whole partition with a value of another type is named, whatever else is there`(name: String) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<3)
            #expect(try await fixture.claim(1).jobs.count == 1)
            try await fixture.fill(0..<1, batch: "follower")
            #expect(try await fixture.claim(3).jobs.count == 2)
            let key = fixture.key(name)
            _ = try await fixture.redis.send(RedisCommand("DEL", .string(key)))
            _ = try await fixture.redis.send(RedisCommand("SET", .string(key), "x"))
            let found = try await fixture.cluster.audit(mend: true)
            #expect(found.map(\.kind) == [.wrongType, .notChecked] && found.first?.example.contains("'\(key)'") == true)
        }
    }

    @Test func `an audit looks at fifty thousand hosts in one step, and names them where there are more`() async throws {
        try await QueueFixture.with { fixture in
            let blank = RedisArgument.bytes([UInt8](repeating: 0, count: 32))
            for chunk in 0..<50 {
                let fields = (0..<1000).flatMap { [.string("h\(chunk)-\($0)"), blank] as [RedisArgument] }
                _ = try await fixture.redis.send(RedisCommand(["HSET", .string(fixture.key("hosts"))] + fields))
            }
            #expect(try await fixture.cluster.audit(mend: false) == [])
            try await fixture.send("HSET", "hosts", "one-more", blank)
            let found = try await fixture.cluster.audit(mend: true)
            #expect(found.map(\.kind) == [.notChecked] && found.first?.example == "hosts", "\(found)")
        }
    }

    @Test(arguments: ["count", "s"])
    func `a key of the bodies with a value of another type is named`(name: String) async throws {
        try await QueueFixture.with { fixture in
            let key = "{\(fixture.namespace):blob}\(name)"
            _ = try await fixture.redis.send(RedisCommand("SET", .string(key), "x"))
            let found = try await fixture.cluster.audit(mend: true, bodies: BlobStore(fixture.cluster))
            #expect(found.map(\.kind) == [.wrongType] && found.first?.example.contains("'\(key)'") == true)
            _ = try await fixture.redis.send(RedisCommand("DEL", .string(key)))
        }
    }

    @Test(arguments: ["dead", "followers:x", "ready:normal", "aside:low:h", "queue", "batch:7", "timers:low", "idle"])
    func `a queue's key with a value of another type is named`(name: String) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.send("SET", fixture.queueKey(name), "x")
            let found = try await fixture.cluster.audit(mend: true)
            #expect(found.map(\.kind) == [.wrongType, .notChecked])
            #expect(found.first?.example.contains("'\(fixture.key(queue: name))'") == true)
        }
    }

    @Test func `a part that is too large for one step is reported as not checked`() async throws {
        try await QueueFixture.with { fixture in
            for chunk in stride(from: 0, to: 51_000, by: 1000) {
                try await fixture.accept(try (chunk..<chunk + 1000).map { try QueueFixture.entry($0, hosts: 1000) }, closing: false)
            }
            try await fixture.send("HINCRBY", fixture.queueKey("queue"), "active", 3)
            #expect(try await fixture.cluster.audit(mend: true).map(\.kind) == [.notChecked])
            #expect(try await fixture.queue.counts().active == 3)
        }
    }

    @Test func `findings hold no URL and no token`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([7, 7, 8])
            let jobs = try await fixture.claim(3).jobs
            for key in ["leases", "hosts"] { try await fixture.send("DEL", .string(key)) }
            try await fixture.send("DEL", fixture.queueKey("queue"))
            for finding in try await fixture.cluster.audit(mend: false) {
                #expect(!finding.example.contains("http"))
                for job in jobs { #expect(finding.example.utf8.firstRange(of: job.token.bytes) == nil) }
            }
        }
    }
}
