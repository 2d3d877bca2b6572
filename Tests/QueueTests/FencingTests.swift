import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// A holder that was paused past its lease, while others went on, does no harm with a late outcome.
@Suite struct FencingTests {
    /// How far the successor is when the late holder comes back.
    enum Successor: String, CaseIterable, Sendable {
        case fetching, finished

        /// The URL waits for a worker.
        case none
    }

    /// Keys that the sender's own exchange changes in any case.
    private static let passing = ["state:", "leases:", "holder:"]

    /// The process of the late holder, in its next life.
    private static let nextLife = Incarnation(77)

    private static let outcomes: [(name: String, outcome: Settlement.Outcome)] = [
        ("failed", QueueFixture.failed("http://h0/0")), ("retry", QueueFixture.retried("http://h0/0", after: .seconds(1))),
        ("throttled", QueueFixture.throttled("http://h0/0", for: .seconds(1))),
        ("put off", .putOff(OutcomeContent(url: "http://h0/0"), for: .seconds(1))), ("back", .handedBack), ("delivered", .delivered),
    ]

    /// Sends the outcome of a job whose worker has begun another life.
    private func settle(_ job: Job, _ outcome: Settlement.Outcome, _ fixture: QueueFixture, bytes: Int = 0) async throws -> Verdict? {
        try await fixture.exchange(Self.nextLife) {
            $0.settlements = [Settlement(job.token, job.id, outcome, host: .answered, bytesFetched: bytes)]
        }?.verdicts.first
    }

    /// The differences that are no trace of the exchange itself.
    private func differences(_ fixture: QueueFixture, from before: StateDump) async throws -> [String] {
        try await fixture.dump().differences(from: before).filter { line in !Self.passing.contains { line.hasPrefix($0) } }
    }

    /// As after a failover to a replica that lagged behind.
    private func setCounterBack(_ fixture: QueueFixture) async throws {
        var clock = try await fixture.send("HGET", "state", "clock").asBytes()
        clock.replaceSubrange(29..<37, with: [UInt8](repeating: 0, count: 8))
        try await fixture.send("HSET", "state", "clock", .bytes(clock))
    }

    @Test(arguments: Successor.allCases, [false, true])
    func `a late outcome is accepted while nobody else has begun, and otherwise counts as one double fetch`(
        successor: Successor, isCounterSetBack: Bool
    ) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill([0, 0])
            let late = try await fixture.claim(1).jobs[0]
            if isCounterSetBack { try await setCounterBack(fixture) }
            try await fixture.endLeases(clock)
            if successor != .none {
                let next = try #require(try await fixture.claim(1).jobs.first)
                #expect(next.id == late.id && next.token != late.token)
                // Set back or not, a later token is a greater one.
                #expect(late.token.bytes.prefix(8).lexicographicallyPrecedes(next.token.bytes.prefix(8)))
                if successor == .finished { #expect(try await fixture.settle(next, QueueFixture.fetched("http://h0/new")) == .settled) }
            }

            let before = try await fixture.dump()
            for (name, outcome) in Self.outcomes { #expect(try await settle(late, outcome, fixture) == .lost, "\(name)") }
            #expect(try await differences(fixture, from: before) == [])

            let answer = try await settle(late, QueueFixture.fetched("http://h0/late"), fixture, bytes: 10)
            #expect(answer == (successor == .none ? .settled : .fenced))
            var counts = try await fixture.queue.counts()
            #expect(counts.fenced == (successor == .none ? 0 : 1) && counts.doubleFetches == counts.fenced)
            if successor == .none {
                #expect(counts.done == 1 && counts.fetched == 1 && counts.bytes == 10 && counts.crashed == 1)
            } else {
                let changed = try await differences(fixture, from: before)
                #expect(changed.count == 1 && changed[0].hasPrefix("q:q:queue:"), "\(changed)")
            }
            try await fixture.expectSound()

            // A repeat of an outcome that was accepted counts nothing.
            if successor == .none {
                #expect(try await settle(late, QueueFixture.fetched("http://h0/late"), fixture) == .lost)
                #expect(try await fixture.queue.counts() == counts)
            }
            let url = try await fixture.cluster.outcome(late.id, host: late.host)?.content.url
            #expect(url == (successor == .finished ? "http://h0/new" : successor == .none ? "http://h0/late" : nil))
            // The URL's other job ends with the outcome that stands.
            if successor == .fetching { try await fixture.queue.reclaimAll() }
            #expect(try await fixture.drain() == (successor == .fetching ? [late.id] : []))
            counts = try await fixture.queue.counts()
            #expect(counts.done == 2 && counts.fetched == 1)
            try await fixture.expectEnded()
        }
    }

    @Test func `an outcome that comes late is accepted while nobody has taken its job back`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill([0])
            let late = try await fixture.claim(1).jobs[0]
            for _ in 0..<7 {
                clock.advance(by: .seconds(5))
                try await fixture.queue.pause()
            }
            // The exchange of the next life settles first, and takes back what is left afterwards.
            #expect(try await settle(late, QueueFixture.fetched("http://h0/0"), fixture) == .settled)
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 1 && counts.fetched == 1 && counts.crashed == 0 && counts.doubleFetches == 0)
            #expect(try await fixture.running().isEmpty)
            try await fixture.expectSound()
        }
    }

    @Test func `an outcome whose lock a failover forgot is refused, and is no double fetch`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill([0])
            let first = try await fixture.claim(1).jobs[0]
            _ = try await fixture.settle(first, QueueFixture.fetched("http://h0/0", fresh: .seconds(1)))
            clock.advance(by: .seconds(2))
            // One URL has an outcome from before, and the other has none.
            try await fixture.fill([0, 1], batch: "again")
            let jobs = try await fixture.claim(2).jobs
            #expect(jobs.count == 2)
            try await fixture.send("DEL", "locks")
            for job in jobs {
                try await fixture.send("HDEL", fixture.holder(job), .bytes(job.id.bytes))
                #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .lost)
            }
            let counts = try await fixture.queue.counts()
            #expect(counts.doubleFetches == 0 && counts.fenced == 0 && counts.fetched == 1)
        }
    }

    @Test(arguments: [false, true])
    func `a late caller's outcome is fenced, and its release does nothing`(isCounterSetBack: Bool) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            let id = QueueFixture.id(5)
            func acquire(_ caller: UInt64) async throws -> LockToken {
                let request = AcquireRequest(
                    id: id, host: "h0", incarnation: Incarnation(caller), nonce: caller, lease: QueueFixture.lease)
                guard case .leased(let token, _) = try await fixture.cluster.acquire(request).fate else { throw KitError("not leased") }
                return token
            }
            let late = try await acquire(1)
            if isCounterSetBack { try await setCounterBack(fixture) }
            try await fixture.endLeases(clock)
            let next = try await acquire(2)

            let before = try await fixture.dump()
            #expect(try await fixture.settle(late, id, .handedBack, from: Self.nextLife) == .lost)
            #expect(try await differences(fixture, from: before) == [])
            #expect(try await fixture.settle(late, id, QueueFixture.fetched("http://h0/late"), from: Self.nextLife) == .fenced)
            #expect(try await differences(fixture, from: before) == [])
            let counted = try await fixture.dump().values["state"]?.filter { $0.contains("=1") && !$0.hasPrefix("clock") }
            #expect(counted == ["doubleFetches=1", "fenced=1"])

            #expect(try await fixture.settle(next, id, QueueFixture.fetched("http://h0/new")) == .settled)
            #expect(try await fixture.settle(late, id, QueueFixture.fetched("http://h0/late"), from: Self.nextLife) == .fenced)
            #expect(try await fixture.cluster.outcome(id, host: "h0")?.content.url == "http://h0/new")
        }
    }

    @Test func `a URL that three workers died with is delivered where a caller has fetched it since`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill([0])
            for _ in 0..<3 {
                #expect(try await fixture.claim(1).jobs.count == 1)
                try await fixture.endLeases(clock)
            }
            let id = QueueFixture.id(0)
            let request = AcquireRequest(id: id, host: "h0", incarnation: Incarnation(1), nonce: 1, lease: QueueFixture.lease)
            guard case .leased(let token, _) = try await fixture.cluster.acquire(request).fate else { throw KitError("not leased") }
            #expect(try await fixture.settle(token, id, QueueFixture.fetched("http://h0/new")) == .settled)
            let job = try #require(try await fixture.claim(1).jobs.first)
            #expect(job.outcome?.content.url == "http://h0/new" && !job.isPoison)
            #expect(try await fixture.settle(job, .delivered) == .settled)
            let counts = try await fixture.queue.counts()
            #expect(counts.crashed == 3 && counts.done == 1 && counts.cached == 1)
        }
    }
}
