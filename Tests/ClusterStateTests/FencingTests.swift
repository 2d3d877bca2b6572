#if canImport(Glibc)
import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

/// A holder that was paused past its lease, while others went on, changes nothing with a late settlement.
@Suite struct FencingTests {
    /// How far the successor is when the late holder comes back.
    enum Successor: String, CaseIterable, Sendable {
        case fetching, finished

        /// The job is in the queue again.
        case none
    }

    private static let outcomes: [(name: String, outcome: Settlement.Outcome)] = [
        ("failed", QueueFixture.failed("http://h0/0")), ("retry", .retry(after: .seconds(1))), ("throttled", .throttled(for: .seconds(1))),
        ("back", .handedBack), ("delivered", .delivered), ("missing", .bodyMissing(digest: [UInt8](repeating: 7, count: 32))),
    ]

    private static let counted = ["fenced", "doubleFetches"]

    @Test(arguments: Successor.allCases, [false, true])
    func `a late holder's settlement changes nothing`(successor: Successor, isCounterSetBack: Bool) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill([0, 0, 1])
            let late = try await fixture.claim(1).jobs[0]
            if isCounterSetBack { try await fixture.redis.send(RedisCommand("HSET", .string(fixture.key("state")), "tokens", "0")) }
            try await fixture.endLeases(clock)
            if successor != .none {
                let jobs = try await fixture.claim(10).jobs
                let next = try #require(jobs.first { $0.entry.id == late.entry.id })
                #expect(next.token != late.token)
                // Set back or not, a later token is a greater one.
                #expect(late.token.bytes.prefix(8).lexicographicallyPrecedes(next.token.bytes.prefix(8)))
                if successor == .finished { #expect(try await fixture.settle(next, QueueFixture.fetched("http://h0/new")) == .settled) }
            }

            let before = try await fixture.dump()
            for (name, outcome) in Self.outcomes { #expect(try await fixture.settle(late, outcome) == .lost, "\(name)") }
            #expect(try await fixture.cluster.renew([late.token], lease: QueueFixture.lease) == [late.token])
            #expect(try await fixture.dump().differences(from: before) == [])

            let answer = try await fixture.settle(late, QueueFixture.fetched("http://h0/late"))
            #expect(answer == (successor == .none ? .lost : .fenced))
            let counts = try await fixture.queue.counts()
            #expect(counts.fenced == (successor == .none ? 0 : 1) && counts.doubleFetches == counts.fenced)
            let after = try await fixture.dump()
            #expect(after.without(Self.counted, of: "q:q:count").differences(from: before) == [])

            if successor == .finished { #expect(try await fixture.cluster.outcome(late.entry.id)?.content.url == "http://h0/new") }
            try await fixture.expectSound()
        }
    }

    @Test(arguments: [false, true])
    func `a late caller's commit is fenced, and its release does nothing`(isCounterSetBack: Bool) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            let id = QueueFixture.id(5)
            func acquire(_ nonce: UInt64) async throws -> LockToken {
                let answer = try await fixture.cluster.acquire(AcquireRequest(id: id, nonce: Nonce(nonce), lease: QueueFixture.lease))
                guard case .leased(let token, _) = answer.fate else { throw KitError("not leased: \(answer.fate)") }
                return token
            }
            let late = try await acquire(1)
            if isCounterSetBack { try await fixture.redis.send(RedisCommand("HSET", .string(fixture.key("state")), "tokens", "0")) }
            try await fixture.endLeases(clock)
            let next = try await acquire(2)

            let before = try await fixture.dump()
            func settle(_ token: LockToken, _ outcome: Settlement.Outcome) async throws -> SettleAnswer {
                try await fixture.cluster.settle([Settlement(token, id, outcome)], random: 0)[0]
            }
            #expect(try await settle(late, .handedBack) == .lost)
            #expect(try await fixture.cluster.renew([late], lease: QueueFixture.lease) == [late])
            #expect(try await fixture.dump().differences(from: before) == [])
            #expect(try await settle(late, QueueFixture.fetched("http://h0/late")) == .fenced)
            #expect(try await fixture.dump().differences(from: before) == ["count: [\"nothing\"] -> [\"doubleFetches=1\", \"fenced=1\"]"])

            #expect(try await settle(next, QueueFixture.fetched("http://h0/new")) == .settled)
            #expect(try await settle(late, QueueFixture.fetched("http://h0/late")) == .fenced)
            #expect(try await fixture.cluster.outcome(id)?.content.url == "http://h0/new")
        }
    }

    @Test func `a worker that dies as the third with a job leaves the outcome of the URL's next holder`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<1)
            for _ in 0..<2 {
                #expect(try await fixture.claim(1).jobs.count == 1)
                try await fixture.endLeases(clock)
            }
            #expect(try await fixture.claim(1).jobs.count == 1)
            // Lease time goes on with every change. Without a claim nobody takes the job back.
            for number in 1...10 {
                clock.advance(by: .seconds(5))
                let other = AcquireRequest(id: QueueFixture.id(number), nonce: Nonce(UInt64(number)), lease: QueueFixture.lease)
                _ = try await fixture.cluster.acquire(other)
            }
            let id = QueueFixture.id(0)
            let answer = try await fixture.cluster.acquire(AcquireRequest(id: id, nonce: Nonce(1), lease: QueueFixture.lease))
            guard case .leased(let token, _) = answer.fate else { throw KitError("not leased: \(answer.fate)") }
            let settlement = Settlement(token, id, QueueFixture.fetched("http://h0/new"))
            #expect(try await fixture.cluster.settle([settlement], random: 0) == [.settled])

            // The third worker's lease is noticed only now.
            #expect(try await fixture.claim(1).failed == 1)
            #expect(try await fixture.cluster.outcome(id)?.content.url == "http://h0/new")
            #expect(try await fixture.queue.counts().crashed == 3)
        }
    }

    @Test func `a late fetch of a URL whose outcome is older is lost, and counts as no double fetch`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill([0])
            let first = try await fixture.claim(1).jobs[0]
            _ = try await fixture.settle(first, QueueFixture.fetched("http://h0/0", fresh: .seconds(1)))
            clock.advance(by: .seconds(2))
            try await fixture.fill([0], batch: "again")
            let late = try await fixture.claim(1).jobs[0]
            try await fixture.endLeases(clock)
            // The job is in the queue again, and nobody has fetched the URL meanwhile.
            #expect(try await fixture.settle(late, QueueFixture.fetched("http://h0/0")) == .lost)
            #expect(try await fixture.queue.counts().doubleFetches == 0)
        }
    }
}
#endif
