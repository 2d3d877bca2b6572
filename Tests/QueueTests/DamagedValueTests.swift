import GannetRedisClient
import Testing

@testable import GannetQueue

/// Another program has written into values of the state. Such a value counts as its default, or the call names its key and changes nothing. An
/// audit names it, and leaves it alone.
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

        /// An operator is told to do this.
        func remove(_ fixture: QueueFixture) async throws { try await fixture.send("HDEL", .string(key), .string(field)) }
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

    @Test(arguments: withDefaults) func `a damaged value stops no worker, and an audit names it`(damage: Damage) async throws {
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
            let found = try await fixture.cluster.audit(mend: true)
            #expect(found.allSatisfy { $0.isMended != ($0.kind == .counterDamaged) }, "\(found)")
            try await damage.remove(fixture)
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
            let row = (entry: try QueueFixture.entry(7), row: 1)
            let right = try await fixture.send("HGET", fixture.queueKey("queue"), .string(field)).asOptionalString() ?? "0"
            try await Damage("q:q:queue", field, value).make(fixture)
            let before = try await fixture.dump()
            let named = StateError.damaged(key: fixture.key(queue: "queue"))
            await #expect(throws: named) { try await fixture.claim(3) }
            await #expect(throws: named) { try await fixture.settle(job, QueueFixture.fetched(job.url)) }
            await #expect(throws: named) { _ = try await fixture.queue.enqueue([row], to: 1, of: &progress, closing: true) }
            #expect(try await fixture.dump().differences(from: before) == [])

            let found = try await fixture.cluster.audit(mend: false)
            #expect(found.first?.kind == .counterDamaged && found.first?.example == "'\(field)' of '\(fixture.key(queue: "queue"))'")
            #expect(try await fixture.cluster.audit(mend: true).map(\.isMended) == [false])
            try await Damage("q:q:queue", field, right).make(fixture)
            #expect(try await fixture.cluster.audit(mend: false) == [])
            #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled)
            #expect(try await fixture.drain().count == 5)
        }
    }

    @Test(arguments: ["batch:1", "queue"]) func `a sweep at a damaged counter names its key and changes nothing`(key: String) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<6)
            let damage = Damage("q:q:\(key)", "cancelled", "nan")
            try await damage.make(fixture)
            let before = try await fixture.dump()
            await #expect(throws: StateError.damaged(key: fixture.key(queue: key))) {
                try await fixture.queue.delete(JobSelection(.ready))
            }
            #expect(try await fixture.dump().differences(from: before) == [])
            try await damage.remove(fixture)
            #expect(try await fixture.queue.delete(JobSelection(.ready)).count == 6)
            #expect(try await fixture.cluster.audit(mend: false) == [])
        }
    }

    @Test(arguments: ["batch:1", "queue"]) func `a counter below zero is damaged, and no job is called lost`(key: String) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<6)
            let damage = Damage("q:q:\(key)", "failed", "-1")
            try await damage.make(fixture)
            let found = try await fixture.cluster.audit(mend: true)
            #expect(found.map(\.kind) == [.counterDamaged], "\(found)")
            try await damage.remove(fixture)
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
            let rows = [(entry: try QueueFixture.entry(7), row: 1)]
            try await Damage("q:q:batch:1", field, "x").make(fixture)
            let before = try await fixture.dump()
            await #expect(throws: StateError.damaged(key: fixture.key(queue: "batch:1"))) {
                _ = try await fixture.queue.enqueue(rows, to: 1, of: &progress, closing: true)
            }
            #expect(try await fixture.dump().differences(from: before) == [])
        }
    }

    @Test(arguments: [[], Array("-1".utf8), Array("nan".utf8), noText, [1, 0, 0], [2] + [UInt8](repeating: 0, count: 80)])
    func `an outcome that cannot be read counts as none`(bytes: [UInt8]) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([0, 0, 1])
            try await fixture.send("SET", .bytes(fixture.keyBytes("outcome:", 0)), .bytes(bytes))
            #expect(try await fixture.cluster.outcome(QueueFixture.id(0), host: "h0") == nil)
            #expect(try await fixture.cluster.explain(QueueFixture.id(0), host: "h0").outcome == nil)
            let request = AcquireRequest(
                id: QueueFixture.id(1), host: "h0", incarnation: Incarnation(1), nonce: 1, lease: QueueFixture.lease)
            guard case .leased(let token, stale: nil) = try await fixture.cluster.acquire(request).fate else {
                return #expect(Bool(false), "there is an outcome")
            }
            #expect(try await fixture.settle(token, QueueFixture.id(1), .handedBack, from: Incarnation(1)) == .settled)
            #expect(try await Set(fixture.drain()) == [QueueFixture.id(0), QueueFixture.id(1)])
            try await fixture.expectEnded()
        }
    }

    @Test(arguments: [[], Array("-1".utf8), Array("nan".utf8), noText, Array("L of no version".utf8), Array("Z new".utf8)])
    func `a lock that cannot be read counts as none, and an audit names it`(bytes: [UInt8]) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<3)
            try await fixture.send("HSET", "locks", .bytes(QueueFixture.id(0).bytes), .bytes(bytes))
            #expect(try await Set(fixture.drain()) == Set((0..<3).map { QueueFixture.id($0) }))
            try await fixture.expectEnded()

            try await fixture.fill(3..<6, batch: "c")
            let job = try await fixture.claim(1).jobs[0]
            try await fixture.send("HSET", "locks", .bytes(job.id.bytes), .bytes(bytes))
            let found = try await fixture.cluster.audit(mend: false)
            let named = try #require(found.first { $0.kind == .recordDamaged }, "\(found)")
            #expect(named.example.hasPrefix("the lock of the URL ") && named.example.hasSuffix(" in '\(fixture.key("locks"))'"))
            let mended = try await fixture.cluster.audit(mend: true)
            #expect(mended.allSatisfy { $0.isMended != ($0.kind == .recordDamaged) }, "\(mended)")
            #expect(try await fixture.drain().count == 2)
            #expect(try await fixture.queue.counts().failed == 1)
            // The next fetch of the URL replaces it.
            try await fixture.fill([3], batch: "d")
            #expect(try await fixture.drain() == [job.id])
            try await fixture.expectEnded()
            #expect(try await fixture.cluster.audit(mend: false) == [])
        }
    }

    /// Damaged elements that stand in a list in place of a block.
    private static let changes: [@Sendable ([UInt8]) -> [UInt8]] = [
        { _ in [] }, { _ in Array("-1".utf8) }, { _ in [UInt8](repeating: UInt8(ascii: "D"), count: 40) }, { Array($0.dropLast(3)) },
        { Array($0.prefix(30)) }, { [$0[0]] },
    ]

    @Test(arguments: changes.indices, [false, true])
    func `damaged jobs are dropped by workers, and counted as lost by an audit that mends`(index: Int, isMet: Bool) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4)
            try await fixture.fill(4..<6, batch: "c")
            let block = try await fixture.send("LINDEX", fixture.queueKey("ready:normal"), 0).asBytes()
            try await fixture.send("LSET", fixture.queueKey("ready:normal"), 0, .bytes(Self.changes[index](block)))
            let found = try await fixture.cluster.audit(mend: false)
            #expect(found.map(\.kind.rawValue) == ["recordDamaged", "jobsLost"] && found.map(\.count) == [1, 4], "\(found)")
            #expect(found.first?.example == "jobs in '\(fixture.key(queue: "ready:normal"))'")
            if !isMet {
                #expect(try await fixture.cluster.audit(mend: true).map(\.isMended) == [false, true])
                #expect(try await fixture.cluster.audit(mend: false).map(\.kind) == [.recordDamaged])
            }
            #expect(try await fixture.drain() == [QueueFixture.id(4), QueueFixture.id(5)])
            if isMet {
                #expect(try await fixture.claim(1).left == .missing)
                #expect(try await fixture.cluster.audit(mend: true).map(\.kind) == [.jobsLost])
            }
            #expect(try await fixture.cluster.audit(mend: false) == [])
            #expect(try await fixture.claim(1).left == .nothing)
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 2 && counts.failed == 4 && counts.isEmpty, "\(counts)")
            _ = try await fixture.claim(1)
            try await fixture.expectEnded()
        }
    }

    @Test func `damaged jobs that stand aside, follow a URL or are delayed are dropped, and the others go on`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([0, 0, 1, 2])
            let jobs = try await fixture.claim(1).jobs
            // The second job for 0 is parked, 1 is in flight, and 2 stands aside.
            let second = try await fixture.claim(10, hostLimit: 2).jobs
            #expect(second.map(\.id) == [QueueFixture.id(1)])
            for list in [fixture.queueKey("aside:normal:h0"), fixture.followers(0), fixture.queueKey("delayed:normal:5")] {
                try await fixture.send("RPUSH", list, .bytes([200, 1, 2]))
            }
            for member in ["d5", "dx"] { try await fixture.send("ZADD", fixture.queueKey("timers:normal"), "1", .string(member)) }
            try await fixture.send("HINCRBY", fixture.queueKey("queue"), "enqueued", "3")
            for job in jobs + second { #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled) }
            #expect(try await fixture.drain() == [QueueFixture.id(2)])
            #expect(try await fixture.claim(1).left == .missing)
            #expect(try await fixture.cluster.audit(mend: true).map(\.kind) == [.jobsLost])
            #expect(try await fixture.claim(1).left == .nothing)
            try await fixture.expectEnded()
        }
    }

    @Test func `jobs are not called missing while the queue is paused, or while others have some`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4, hosts: 2)
            try await fixture.queue.pause()
            #expect(try await fixture.claim(4).left == .jobs)
            try await fixture.queue.resume()
            let jobs = try await fixture.claim(4).jobs
            #expect(try await fixture.claim(4, worker: "other").left == .jobs)
            for job in jobs { #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled) }
            #expect(try await fixture.claim(4).left == .nothing)
        }
    }

    @Test func `requests of a host whose record cannot be read are counted anew`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4)
            _ = try await fixture.claim(1)
            try await Damage("hosts", "h0", Self.noText).make(fixture)
            #expect(try await fixture.cluster.audit(mend: true).map(\.kind) == [.hostCount])
            #expect(try await fixture.cluster.audit(mend: false) == [])
            #expect(try await fixture.host("h0")?.running == 1)
        }
    }

    @Test func `a damaged priority counts as normal, also where the queue's priorities are lost`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4)
            let damage = Damage("q:q:batch:1", "priority", "1e308")
            try await damage.make(fixture)
            try await fixture.send("HDEL", fixture.queueKey("queue"), "priorities")
            #expect(try await fixture.cluster.audit(mend: true).map(\.kind) == [.counterDamaged, .counter])
            try await damage.remove(fixture)
            #expect(try await fixture.cluster.audit(mend: false) == [])
            #expect(try await fixture.send("HGET", fixture.queueKey("queue"), "priorities").asString() == "2")
            #expect(try await fixture.drain().count == 4)
        }
    }

    @Test(arguments: ["bytes", "memory", "evicted", "clock"], ["", "nan"])
    func `a damaged counter of the bodies is named, and bodies are stored again once it is gone`(field: String, value: String) async throws
    {
        try await QueueFixture.with { fixture in
            let bodies = BlobStore(fixture.cluster)
            func put(_ number: Int) async throws {
                _ = try await bodies.put(
                    digest: BlobFixture.digest(number), bytes: BlobFixture.body(number, 50 * number), limit: 1 << 20, sparing: .zero)
            }
            for number in 1...3 { try await put(number) }
            let key = "{\(fixture.namespace):blob}count"
            try await fixture.redis.send(RedisCommand("HSET", .string(key), .string(field), .string(value)))
            await #expect(throws: StateError.damaged(key: key)) { try await put(4) }
            #expect(try await bodies.get(digest: BlobFixture.digest(2)) == BlobFixture.body(2, 100))
            let found = try await fixture.cluster.audit(mend: false, bodies: bodies)
            #expect(found.map(\.kind) == [.counterDamaged, .notChecked] && found.first?.example == "'\(field)' of '\(key)'", "\(found)")
            #expect(try await fixture.cluster.audit(mend: true, bodies: bodies) == found)
            try await fixture.redis.send(RedisCommand("HDEL", .string(key), .string(field)))
            #expect(try await fixture.cluster.audit(mend: false, bodies: bodies) == [])
            try await put(4)
            #expect(try await bodies.usage().blobs == 4)
        }
    }
}
