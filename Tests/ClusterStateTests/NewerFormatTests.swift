import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

/// Workers of a newer minor version share the queue. Elements that cannot be read here are set aside, and are never lost.
@Suite struct NewerFormatTests {
    private static func foreign(_ fixture: QueueFixture) async throws -> [String] {
        try await fixture.dump().values["q:q:foreign"] ?? []
    }

    @Test(arguments: [false, true])
    func `a job whose outcome a newer version wrote is set aside, and the others go on`(isAsideTaken: Bool) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<3)
            let page = RedisArgument.bytes(Array(fixture.key("page:").utf8) + QueueFixture.id(1).bytes)
            try await fixture.redis.send(RedisCommand("SET", page, "\u{2}new"))
            let aside = RedisArgument.string(fixture.key(queue: "foreign"))
            if isAsideTaken {
                try await fixture.redis.send(RedisCommand("SET", aside, "somebody else's"))
                let before = try await fixture.dump()
                await #expect(throws: StateError.self) { try await fixture.claim(10) }
                let clocks = ["seen", "lived", "shortest", "shift", "tokens", "batches", "chains"]
                let after = try await fixture.dump().without(clocks, of: "state")
                #expect(after.differences(from: before.without(clocks, of: "state")) == [])
                try await fixture.redis.send(RedisCommand("DEL", aside))
            }
            #expect(try await fixture.drain() == [QueueFixture.id(0), QueueFixture.id(2)])
            let answer = try await fixture.claim(10)
            #expect(answer.left == .onlyForeign && answer.jobs.isEmpty)
            try await fixture.expectSound()
            #expect(try await Self.foreign(fixture).count == 1)
            await #expect(throws: StateError.newerFormat("The outcome of this URL")) {
                try await fixture.cluster.outcome(QueueFixture.id(1))
            }
            await #expect(throws: StateError.newerFormat("The outcome of this URL")) {
                try await fixture.cluster.acquire(AcquireRequest(id: QueueFixture.id(1), nonce: Nonce(1), lease: QueueFixture.lease))
            }
            // A worker that can read the outcome puts the job back, and then it is a job like any other.
            try await fixture.redis.send(RedisCommand("DEL", page))
            try await fixture.redis.send(RedisCommand("LMOVE", aside, .string(fixture.key(queue: "ready:normal")), "LEFT", "LEFT"))
            #expect(try await fixture.drain() == [QueueFixture.id(1)])
            try await fixture.expectEnded()
        }
    }

    @Test func `a list with entries and a heading of a newer kind loses none of them`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<2)
            let ready = RedisArgument.string(fixture.key(queue: "ready:normal"))
            // A lean entry stands behind an entry of a new kind, and another behind a heading of a new kind, which looks the same.
            let lean = try QueueFixture.entry(7).bytes
            for element in [Array("Z new".utf8), Array("Y new".utf8), lean, lean] {
                try await fixture.redis.send(RedisCommand("RPUSH", ready, .bytes(element)))
            }
            try await fixture.fill(2..<5, batch: "c")
            try await fixture.redis.send(RedisCommand("HINCRBY", .string(fixture.key(queue: "count")), "enqueued", "4"))
            #expect(try await fixture.drain() == (0..<5).map(QueueFixture.id))
            #expect(try await fixture.claim(1).left == .onlyForeign)
            let heading = try await Self.foreign(fixture)
            #expect(heading.suffix(4) == ["Z new", "Y new", StateDump.shown(lean), StateDump.shown(lean)])
            // The heading before them is set aside too, because it may be theirs.
            #expect(heading.count <= 5 && heading.dropLast(4).allSatisfy { $0.hasPrefix("h") })
            try await fixture.expectSound()
        }
    }

    @Test func `held, delayed, parked and leased jobs of a newer kind are not lost`() async throws {
        try await QueueFixture.with { fixture in
            let redis = fixture.redis
            try await fixture.fill([0, 0, 1, 2])
            let jobs = try await fixture.claim(1).jobs
            // 1 and 2 are held, and the second job for 0 is parked.
            _ = try await fixture.claim(10, hostLimit: 1)
            try await redis.send(RedisCommand("RPUSH", .string(fixture.key(queue: "held:normal:h0")), "Z held"))
            let parked = RedisArgument.bytes(Array(fixture.key("parked:").utf8) + QueueFixture.id(0).bytes)
            try await redis.send(RedisCommand("RPUSH", parked, "Z parked"))
            try await redis.send(RedisCommand("ZADD", .string(fixture.key(queue: "later")), "1", "0123456789abcdefZ later"))
            let count = RedisArgument.string(fixture.key(queue: "count"))
            try await redis.send(RedisCommand("HINCRBY", count, "enqueued", "3"))
            try await redis.send(RedisCommand("HINCRBY", count, "parked", "1"))
            try await redis.send(RedisCommand("HINCRBY", count, "delayed", "1"))
            try await fixture.expectSound()

            _ = try await fixture.settle(jobs[0], QueueFixture.fetched("http://h0/0"))
            #expect(try await fixture.drain() == [QueueFixture.id(1), QueueFixture.id(2)])
            #expect(try await Self.foreign(fixture).filter { $0.hasPrefix("Z") }.sorted() == ["Z held", "Z later", "Z parked"])
            #expect(try await fixture.claim(1).left == .onlyForeign)
            try await fixture.expectSound()
            #expect(try await fixture.queue.counts().ready == 3)
        }
    }

    #if canImport(Glibc)
    @Test func `a lease of a newer kind is left to the newer workers`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.redis.send(RedisCommand("HSET", .string(fixture.key("leases")), "0123456789abcdef", "Z new"))
            try await fixture.redis.send(RedisCommand("ZADD", .string(fixture.key("expiry")), "10", "0123456789abcdef"))
            try await fixture.fill(0..<1)
            #expect(try await fixture.drain().count == 1)
            try await fixture.endLeases(clock)
            #expect(try await fixture.dump().values["leases"] == ["0123456789abcdef=Z new"])
            #expect(try await fixture.dump().values["expiry"]?.count == 1)
        }
    }
    #endif

    @Test(arguments: ["", "j", "J", "h", "x", "J2345678901234567890123456789012345678", "j123456789012345678", "h123456789"])
    func `an entry that was cut is set aside`(element: String) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<2)
            let ready = RedisArgument.string(fixture.key(queue: "ready:normal"))
            try await fixture.redis.send(RedisCommand("RPUSH", ready, .string(element)))
            try await fixture.fill(2..<4, batch: "c")
            #expect(try await fixture.drain() == (0..<4).map(QueueFixture.id))
            #expect(try await Self.foreign(fixture).contains(element))
        }
    }

    @Test func `fields of an outcome that a newer version added are skipped`() throws {
        var content = OutcomeContent(url: "https://a.example/x")
        content.fields = [.entityTag: "\"e\"", .vary: "accept"]
        var bytes = content.bytes
        // A field with another tag stands between the two known fields. The count is in the low six bits of byte 40.
        bytes.insert(contentsOf: [200, 0, 3, 1, 2, 3], at: 41)
        bytes[40] += 1
        #expect(OutcomeContent(bytes[...]) == content)
    }

    @Test func `another major schema is refused, and another minor schema is accepted`() async throws {
        try await QueueFixture.with { fixture in
            let schema = RedisArgument.string(fixture.key("schema"))
            try await fixture.cluster.checkSchema()
            #expect(try await fixture.redis.send(RedisCommand("GET", schema)).asString() == "1.1")
            for (found, isRefused) in [("2.0", true), ("1.7", false), ("10.0", true), ("0.9", true), ("1.0", false)] {
                try await fixture.redis.send(RedisCommand("SET", schema, .string(found)))
                if isRefused {
                    await #expect(throws: StateError.otherSchema(found: found)) { try await fixture.cluster.checkSchema() }
                } else {
                    try await fixture.cluster.checkSchema()
                }
                #expect(try await fixture.redis.send(RedisCommand("GET", schema)).asString() == found)
            }
        }
    }
}
