import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// Workers of a newer minor version share the queue. Elements that cannot be read here are set aside, and are never lost.
@Suite struct NewerFormatTests {
    private static func newer(_ fixture: QueueFixture) async throws -> [String] {
        try await fixture.dump().values["q:q:aside:newer"] ?? []
    }

    /// A job or a lock of a kind that no version knows yet.
    private static func element(_ text: String) -> RedisArgument { .bytes([200] + Array(text.utf8)) }
    private static func shown(_ text: String) -> String { "\\200\(text)" }

    private static func outcome(_ number: Int) -> RedisArgument { .bytes(Array("outcome:".utf8) + QueueFixture.id(number).bytes) }

    private static func acquire(_ fixture: QueueFixture, _ number: Int) async throws -> AcquireAnswer {
        try await fixture.cluster.acquire(
            AcquireRequest(id: QueueFixture.id(number), host: "h0", incarnation: Incarnation(1), nonce: 1, lease: QueueFixture.lease))
    }

    @Test func `a job whose outcome a newer version wrote is set aside, and the others go on`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<3)
            try await fixture.send("SET", Self.outcome(1), "\u{2}new")
            #expect(try await fixture.drain() == [QueueFixture.id(0), QueueFixture.id(2)])
            let answer = try await fixture.claim(10)
            #expect(answer.left == .onlyForeign && answer.jobs.isEmpty)
            try await fixture.expectSound()
            #expect(try await Self.newer(fixture).count == 1)
            #expect(try await fixture.queue.counts().ready == 1)
            await #expect(throws: StateError.newerFormat("The outcome of a URL")) {
                try await fixture.cluster.outcome(QueueFixture.id(1), host: "h0")
            }
            await #expect(throws: StateError.newerFormat("The outcome of this URL")) { try await Self.acquire(fixture, 1) }
            #expect(try await fixture.send("GET", Self.outcome(1)).asString() == "\u{2}new")
            // A worker that can read the outcome takes the job on, and then it is a job like any other.
            try await fixture.send("DEL", Self.outcome(1))
            #expect(try await fixture.drain() == [QueueFixture.id(1)])
            try await fixture.expectEnded()
        }
    }

    @Test func `an element that a claim read and did not reach is set aside once`() async throws {
        try await QueueFixture.with { fixture in
            let hosts = ["a"] + Array(repeating: "b", count: 10) + ["c"]
            try await fixture.accept(
                try hosts.enumerated().map {
                    try JobEntry(id: QueueFixture.id($0.offset), host: $0.element, url: "http://\($0.element)/\($0.offset)")
                })
            try await fixture.send("RPUSH", fixture.queueKey("ready:normal"), Self.element("x"))
            // The first job lets the claim read on: the jobs of the second host are more than it wants, and it reads behind the third host's.
            #expect(try await fixture.claim(4).jobs.count == 4)
            #expect(try await Self.newer(fixture) == [])
            #expect(try await fixture.claimAll(20).count == 8)
            #expect(try await Self.newer(fixture) == [Self.shown("x")])
        }
    }

    @Test func `followers of a URL whose outcome a newer version wrote are set aside, and the URL is not fetched again`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([0, 0, 0])
            let job = try await fixture.claim(3).jobs[0]
            #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled)
            try await fixture.send("SET", Self.outcome(0), "\u{2}new")
            #expect(try await fixture.drain() == [])
            #expect(try await fixture.send("GET", Self.outcome(0)).asString() == "\u{2}new")
            #expect(try await Self.newer(fixture).count == 2)
            #expect(try await fixture.claim(1).left == .onlyForeign)
            let counts = try await fixture.queue.counts()
            #expect(counts.ready == 2 && counts.parked == 0)
            try await fixture.expectSound()
            try await fixture.send("DEL", Self.outcome(0))
            #expect(try await fixture.drain() == [QueueFixture.id(0)])
            try await fixture.expectEnded()
        }
    }

    @Test func `jobs that were set aside for a newer version are taken on in their order`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<5)
            for number in 0..<5 { try await fixture.send("SET", Self.outcome(number), "\u{2}new") }
            #expect(try await fixture.drain() == [])
            #expect(try await Self.newer(fixture).count == 5)
            for number in 0..<5 { try await fixture.send("DEL", Self.outcome(number)) }
            #expect(try await fixture.drain() == (0..<5).map(QueueFixture.id))
            try await fixture.expectEnded()
        }
    }

    @Test func `a list with elements of a newer kind loses none of them`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<2)
            for text in ["one", "two"] { try await fixture.send("RPUSH", fixture.queueKey("ready:normal"), Self.element(text)) }
            try await fixture.fill(2..<5, batch: "c")
            try await fixture.send("HINCRBY", fixture.queueKey("queue"), "enqueued", "2")
            #expect(try await fixture.drain() == (0..<5).map(QueueFixture.id))
            #expect(try await fixture.claim(1).left == .onlyForeign)
            #expect(try await Set(Self.newer(fixture)) == Set(["one", "two"].map(Self.shown)))
            try await fixture.expectSound()
        }
    }

    @Test func `jobs of a newer kind that stand aside, follow a URL or are delayed are not lost`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([0, 0, 1, 2])
            let jobs = try await fixture.claim(1).jobs
            // The second job for 0 is parked, 1 is in flight, and 2 stands aside.
            let second = try await fixture.claim(10, hostLimit: 2).jobs
            #expect(second.map(\.id) == [QueueFixture.id(1)])
            try await fixture.send("RPUSH", fixture.queueKey("aside:normal:h0"), Self.element("aside"))
            try await fixture.send("RPUSH", fixture.followers(0), Self.element("follower"))
            try await fixture.send("RPUSH", fixture.queueKey("delayed:normal:5"), Self.element("delayed"))
            try await fixture.send("ZADD", fixture.queueKey("timers:normal"), "1", "d5")
            // An unreleased build had a block in the timer itself.
            try await fixture.send(
                "ZADD", fixture.queueKey("timers:normal"), "1", .bytes(Array("d01234567".utf8) + [200] + Array("timer".utf8)))
            try await fixture.send("HINCRBY", fixture.queueKey("queue"), "enqueued", "4")

            for job in jobs + second { #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled) }
            #expect(try await fixture.drain() == [QueueFixture.id(2)])
            #expect(try await Set(Self.newer(fixture)) == Set(["aside", "delayed", "follower", "timer"].map(Self.shown)))
            #expect(try await fixture.claim(1).left == .onlyForeign)
            try await fixture.expectSound()
            #expect(try await fixture.queue.counts().ready == 4)
        }
    }

    @Test func `a URL whose lock is of a newer kind is left to the newer workers`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<2)
            try await fixture.send("HSET", "locks", .bytes(QueueFixture.id(0).bytes), "Z new")
            #expect(try await fixture.drain() == [QueueFixture.id(1)])
            await #expect(throws: StateError.newerFormat("The outcome of this URL")) { try await Self.acquire(fixture, 0) }
            try await fixture.endLeases(clock)
            #expect(try await fixture.drain() == [])
            #expect(try await fixture.send("HGET", "locks", .bytes(QueueFixture.id(0).bytes)).asString() == "Z new")
            #expect(try await fixture.queue.counts().open == 1)
            // The newer worker has ended its request.
            try await fixture.send("HDEL", "locks", .bytes(QueueFixture.id(0).bytes))
            clock.advance(by: .seconds(60))
            #expect(try await fixture.drain() == [QueueFixture.id(0)])
            try await fixture.expectEnded()
        }
    }

    @Test(arguments: ["", "@", "J", "x", "D2345678901234567890123456"])
    func `an element that was cut is set aside`(element: String) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<2)
            try await fixture.send("RPUSH", fixture.queueKey("ready:normal"), .string(element))
            try await fixture.fill(2..<4, batch: "c")
            #expect(try await fixture.drain() == (0..<4).map(QueueFixture.id))
            #expect(try await Self.newer(fixture).contains(element))
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
            #expect(try await fixture.cluster.checked().partitions.count == 1)
            #expect(try await fixture.redis.send(RedisCommand("GET", schema)).asString() == "2.0/1")
            for (found, partitions) in [
                ("3.0/1", nil), ("2.7/4", 4), ("10.0/1", nil), ("1.9", nil), ("2.0/16", 16),
            ] {
                try await fixture.redis.send(RedisCommand("SET", schema, .string(found)))
                if let partitions {
                    #expect(try await fixture.cluster.checked().partitions.count == partitions)
                } else {
                    let version = found.split(separator: "/").first.map(String.init) ?? ""
                    await #expect(throws: StateError.otherSchema(found: version)) { try await fixture.cluster.checked() }
                }
                #expect(try await fixture.redis.send(RedisCommand("GET", schema)).asString() == found)
            }
            for found in ["2.0", "2.0/0", "2.0/x", "2.0/1/1", "", "x"] {
                try await fixture.redis.send(RedisCommand("SET", schema, .string(found)))
                await #expect(throws: StateError.damagedSchema(key: fixture.key("schema"), found: found)) {
                    try await fixture.cluster.checked()
                }
            }
            _ = try await fixture.redis.send(RedisCommand("DEL", schema))
            _ = try await fixture.redis.send(RedisCommand("LPUSH", schema, "x"))
            await #expect(throws: StateError.damagedSchema(key: fixture.key("schema"), found: nil)) {
                try await fixture.cluster.checked(.looks)
            }
        }
    }
}
