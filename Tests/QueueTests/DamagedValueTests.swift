import GannetRedisClient
import Testing

@testable import GannetQueue

/// Another program has written into values of the state. Such a value counts as its default, or the call names its key and changes nothing. An
/// audit finds and mends it.
@Suite struct DamagedValueTests {
    /// A field of a hash, and what stands in it.
    struct Damage: Sendable, CustomTestStringConvertible {
        let key, field: String
        let value: [UInt8]

        init(_ key: String, _ field: String, _ value: [UInt8]) { (self.key, self.field, self.value) = (key, field, value) }
        init(_ key: String, _ field: String, _ value: String) { self.init(key, field, Array(value.utf8)) }

        var testDescription: String { "\(key) \(field) \(StateDump.shown(value))" }

        func make(_ fixture: QueueFixture) async throws {
            try await fixture.send("HSET", .string(key), .string(field), .bytes(value))
        }
    }

    private static let noText = [UInt8](repeating: 0xff, count: 24)

    private static let withDefaults = [
        Damage("q:q:queue", "turn", ""), Damage("q:q:queue", "turn", "nan"), Damage("q:q:queue", "turn", noText),
        Damage("q:q:batch:1", "priority", ""), Damage("q:q:batch:1", "priority", "1e308"), Damage("q:q:batch:2", "priority", "7"),
        Damage("q:q:batch:3", "maxAge", noText), Damage("state", "sweep", "nan"), Damage("state", "sweep", noText),
        Damage("hosts", "h0", noText), Damage("hosts", "h0", [UInt8](repeating: 0xff, count: 40)), Damage("hosts", "?q", ""),
        Damage("q:q:batch:1", "active", ""), Damage("q:q:batch:1", "done", noText), Damage("q:q:batch:1", "total", ""),
        Damage("q:q:queue", "active", "1e308"), Damage("q:q:queue", "fetched", "007"), Damage("q:q:queue", "kept", ""),
        Damage("q:q:queue", "keptIds", noText), Damage("q:q:queue", "walk", "1e308"), Damage("q:q:queue", "bytes", "nan"),
    ]

    @Test(arguments: withDefaults) func `a damaged value stops no worker, and an audit mends it`(damage: Damage) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<6)
            var low = BatchOptions()
            low.priority = .low
            try await fixture.fill(6..<9, batch: "low", options: low)
            let jobs = try await fixture.claim(2).jobs
            _ = try await fixture.settle(jobs[0], QueueFixture.fetched(jobs[0].url), bytes: 3)
            // The outcome of its URL decides whether the URL is fetched.
            try await fixture.fill([0], batch: "again")
            try await damage.make(fixture)

            #expect(try await fixture.settle(jobs[1], QueueFixture.fetched(jobs[1].url), bytes: 3) == .settled)
            _ = try await fixture.drain()
            #expect(try await fixture.claim(9).left == .nothing)
            _ = try await fixture.cluster.audit(mend: true)
            #expect(try await fixture.cluster.audit(mend: false) == [])
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 10 && counts.enqueued == 10 && counts.isEmpty, "\(counts)")
        }
    }

    @Test(arguments: ["enqueued", "done", "failed", "cancelled"], ["", "1e308"])
    func `without the counters that tell when a queue has ended, calls name the key and change nothing`(
        field: String, value: String
    ) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<6)
            let job = try await fixture.claim(1).jobs[0]
            var progress = try await fixture.queue.begin(batch: "more")
            let row = FetchQueue.Row(try QueueFixture.entry(7), at: 1)
            try await Damage("q:q:queue", field, value).make(fixture)
            let before = try await fixture.dump()
            let named = StateError.damaged(key: fixture.key(queue: "queue"))
            await #expect(throws: named) { try await fixture.claim(3) }
            await #expect(throws: named) { try await fixture.settle(job, QueueFixture.fetched(job.url)) }
            await #expect(throws: named) { _ = try await fixture.queue.enqueue([row], to: 1, of: &progress, closing: true) }
            #expect(try await fixture.dump().differences(from: before) == [])

            let found = try await fixture.cluster.audit(mend: false)
            #expect(found.first?.kind == .counterDamaged && found.first?.example == "'\(field)' of '\(fixture.key(queue: "queue"))'")
            _ = try await fixture.cluster.audit(mend: true)
            #expect(try await fixture.cluster.audit(mend: false) == [])
            #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled)
            #expect(try await fixture.drain().count == 5)
        }
    }

    @Test(arguments: ["batch:1", "queue"]) func `a sweep at a damaged counter names its key and changes nothing`(key: String) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<6)
            try await Damage("q:q:\(key)", "cancelled", "nan").make(fixture)
            let before = try await fixture.dump()
            await #expect(throws: StateError.damaged(key: fixture.key(queue: key))) {
                try await fixture.queue.delete(JobSelection(.ready))
            }
            #expect(try await fixture.dump().differences(from: before) == [])
            _ = try await fixture.cluster.audit(mend: true)
            #expect(try await fixture.queue.delete(JobSelection(.ready)).count == 6)
            #expect(try await fixture.cluster.audit(mend: false) == [])
        }
    }

    @Test(arguments: ["batch:1", "queue"]) func `a counter below zero is damaged, and no job is called lost`(key: String) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<6)
            try await Damage("q:q:\(key)", "failed", "-1").make(fixture)
            let found = try await fixture.cluster.audit(mend: true)
            #expect(found.map(\.kind) == [.counterDamaged], "\(found)")
            #expect(try await fixture.cluster.audit(mend: false) == [])
            #expect(try await fixture.drain().count == 6)
            try await fixture.expectEnded()
        }
    }

    @Test(arguments: ["nan", "", "a record that is cut"]) func `a host's record that cannot be read is shown as none`(
        record: String
    ) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([0])
            try await Damage("hosts", "h0", record).make(fixture)
            #expect(try await fixture.cluster.explain(QueueFixture.id(0), host: "h0").standing == HostStanding())
        }
    }

    @Test(arguments: ["total", "offset"]) func `a batch whose progress is damaged accepts nothing, and its key is named`(
        field: String
    ) async throws {
        try await QueueFixture.with { fixture in
            var progress = try await fixture.queue.begin(batch: "b")
            let rows = [FetchQueue.Row(try QueueFixture.entry(7), at: 1)]
            try await Damage("q:q:batch:1", field, "x").make(fixture)
            let before = try await fixture.dump()
            await #expect(throws: StateError.damaged(key: fixture.key(queue: "batch:1"))) {
                _ = try await fixture.queue.enqueue(rows, to: 1, of: &progress, closing: true)
            }
            #expect(try await fixture.dump().differences(from: before) == [])
        }
    }

    @Test(arguments: [[], Array("-1".utf8), Array("nan".utf8), noText, [1, 0, 0]])
    func `an outcome that cannot be read counts as none`(bytes: [UInt8]) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([0, 0, 1])
            try await fixture.send("SET", .bytes(fixture.keyBytes("outcome:", 0)), .bytes(bytes))
            #expect(try await fixture.cluster.outcome(QueueFixture.id(0), host: "h0") == nil)
            #expect(try await fixture.cluster.explain(QueueFixture.id(0), host: "h0").isOutcomeForeign == false)
            #expect(try await Set(fixture.drain()) == [QueueFixture.id(0), QueueFixture.id(1)])
            try await fixture.expectEnded()
        }
    }

    @Test(arguments: [[], Array("-1".utf8), Array("nan".utf8), noText, Array("L of no version".utf8)])
    func `a lock that cannot be read counts as none, and an audit removes it`(bytes: [UInt8]) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<3)
            try await fixture.send("HSET", "locks", .bytes(QueueFixture.id(0).bytes), .bytes(bytes))
            #expect(try await Set(fixture.drain()) == Set((0..<3).map { QueueFixture.id($0) }))
            try await fixture.expectEnded()

            try await fixture.fill(3..<6, batch: "c")
            let job = try await fixture.claim(1).jobs[0]
            try await fixture.send("HSET", "locks", .bytes(job.id.bytes), .bytes(bytes))
            let found = try await fixture.cluster.audit(mend: false)
            #expect(found.contains { $0.kind.rawValue == "recordDamaged" && $0.example.hasPrefix("the lock of the URL ") }, "\(found)")
            #expect(try await fixture.cluster.audit(mend: true).allSatisfy(\.isMended))
            #expect(try await fixture.cluster.audit(mend: false) == [])
            #expect(try await fixture.drain().count == 2)
            try await fixture.expectEnded()
            #expect(try await fixture.queue.counts().failed == 1)
        }
    }

    /// Damaged elements that stand in a list in place of a block.
    private static let changes: [@Sendable ([UInt8]) -> [UInt8]] = [
        { _ in [] }, { _ in Array("-1".utf8) }, { _ in [UInt8](repeating: UInt8(ascii: "D"), count: 40) }, { Array($0.dropLast(3)) },
        { Array($0.prefix(30)) }, { [$0[0]] },
    ]

    @Test(arguments: changes.indices)
    func `damaged jobs are set aside by workers, and counted as lost by an audit that mends`(index: Int) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4)
            try await fixture.fill(4..<6, batch: "c")
            let block = try await fixture.send("LINDEX", fixture.queueKey("ready:normal"), 0).asBytes()
            try await fixture.send("LSET", fixture.queueKey("ready:normal"), 0, .bytes(Self.changes[index](block)))
            for isSetAside in [false, true] {
                let found = try await fixture.cluster.audit(mend: false)
                #expect(found.map(\.kind.rawValue) == ["recordDamaged", "jobsLost"] && found.map(\.count) == [1, 4], "\(found)")
                if isSetAside { break }
                #expect(try await fixture.drain() == [QueueFixture.id(4), QueueFixture.id(5)])
                #expect(try await fixture.claim(1).left == .onlyForeign)
            }
            #expect(try await fixture.cluster.audit(mend: true).allSatisfy(\.isMended))
            #expect(try await fixture.cluster.audit(mend: false) == [])
            #expect(try await fixture.claim(1).left == .nothing)
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 2 && counts.failed == 4 && counts.isEmpty, "\(counts)")
            _ = try await fixture.claim(1)
            try await fixture.expectEnded()
        }
    }

    @Test func `jobs of a newer version stay, and so do damaged jobs beside them, because nobody can count the lost ones`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4)
            for bytes in [[200, 1, 2], [UInt8]()] { try await fixture.send("RPUSH", fixture.queueKey("ready:normal"), .bytes(bytes)) }
            let before = try await fixture.dump()
            #expect(try await fixture.cluster.audit(mend: true).map(\.kind) == [.notChecked])
            #expect(try await fixture.dump().differences(from: before) == [])
        }
    }

    @Test func `a host's record that cannot be read is named, and mended`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4)
            _ = try await fixture.claim(1)
            for host in ["h0", "other"] { try await Damage("hosts", host, Self.noText).make(fixture) }
            let found = try await fixture.cluster.audit(mend: false)
            #expect(found.first?.kind.rawValue == "recordDamaged" && found.first?.count == 2, "\(found)")
            _ = try await fixture.cluster.audit(mend: true)
            #expect(try await fixture.cluster.audit(mend: false) == [])
            #expect(try await fixture.host("h0")?.running == 1)
            #expect(try await fixture.host("other") == nil)
        }
    }

    @Test func `a damaged priority is mended with its batch, and names no priority that there is not`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4)
            try await Damage("q:q:batch:1", "priority", "1e308").make(fixture)
            try await fixture.send("HDEL", fixture.queueKey("queue"), "priorities")
            _ = try await fixture.cluster.audit(mend: true)
            #expect(try await fixture.cluster.audit(mend: false) == [])
            #expect(try await fixture.send("HGET", fixture.queueKey("batch:1"), "priority").asString() == "2")
            #expect(try await fixture.send("HGET", fixture.queueKey("queue"), "priorities").asString() == "2")
            #expect(try await fixture.drain().count == 4)
        }
    }

    @Test(arguments: ["bytes", "memory", "evicted", "clock"], ["", "nan"])
    func `a damaged counter of the bodies is named, and counted anew`(field: String, value: String) async throws {
        try await QueueFixture.with { fixture in
            let bodies = BlobStore(fixture.cluster)
            func put(_ number: Int) async throws {
                _ = try await bodies.put(
                    digest: BlobFixture.digest(number), bytes: BlobFixture.body(number, 50 * number), limit: 1 << 20, sparing: .zero)
            }
            for number in 1...3 { try await put(number) }
            let before = try await bodies.usage()
            let key = "{\(fixture.namespace):blob}count"
            try await fixture.redis.send(RedisCommand("HSET", .string(key), .string(field), .string(value)))
            await #expect(throws: StateError.damaged(key: key)) { try await put(4) }
            #expect(try await bodies.get(digest: BlobFixture.digest(2)) == BlobFixture.body(2, 100))
            let found = try await fixture.cluster.audit(mend: false, bodies: bodies)
            #expect(found.map(\.kind) == [.counterDamaged, .notChecked] && found.first?.example == "'\(field)' of '\(key)'", "\(found)")
            #expect(try await fixture.cluster.audit(mend: true, bodies: bodies).allSatisfy(\.isMended))
            #expect(try await fixture.cluster.audit(mend: false, bodies: bodies) == [])
            #expect(try await bodies.usage() == before)
            try await put(4)
            #expect(try await bodies.usage().blobs == 4)
        }
    }
}
