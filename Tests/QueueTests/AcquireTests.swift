import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// The answers to a caller without a job.
@Suite struct AcquireTests {
    private static let id = QueueFixture.id(3)

    private struct Caller: Sendable {
        let fixture: QueueFixture

        /// Each number is a caller in a process of its own.
        func ask(_ number: UInt64 = 1, _ change: (inout AcquireRequest) -> Void = { _ in }) async throws -> AcquireAnswer {
            var request = AcquireRequest(
                id: AcquireTests.id, host: "a", incarnation: Incarnation(number), nonce: number, lease: QueueFixture.lease)
            change(&request)
            return try await fixture.cluster.acquire(request)
        }

        /// The right to fetch the URL, and the outcome that may be used where the fetch fails.
        func lease(_ number: UInt64 = 1, _ change: (inout AcquireRequest) -> Void = { _ in }) async throws -> (LockToken, URLOutcome?) {
            let answer = try await ask(number, change)
            guard case .leased(let token, let stale) = answer.fate else { throw Surprise(answer: answer) }
            return (token, stale)
        }

        func settle(_ token: LockToken, _ outcome: Settlement.Outcome) async throws -> Verdict {
            try await fixture.settle(token, AcquireTests.id, outcome)
        }

        func fetch(fresh: Duration = .seconds(3600), isStored: Bool = true) async throws {
            let outcome = QueueFixture.fetched("http://a/", fresh: fresh, isStored: isStored)
            guard try await settle(try await lease(99).0, outcome) == .settled else { throw Surprise(answer: nil) }
        }
    }

    // Closures stand outside of `#expect`: the compiler takes one inside for another of the same type beside it.
    private struct Surprise: Error { let answer: AcquireAnswer? }

    private func with(_ body: (Caller) async throws -> Void) async throws {
        try await QueueFixture.with { try await body(Caller(fixture: $0)) }
    }

    private static func isFresh(_ answer: AcquireAnswer) -> Bool {
        if case .fresh(let outcome) = answer.fate { outcome.content.url == "http://a/" } else { false }
    }

    @Test func `the first caller gets the lock, and gets it again when it asks again, and others hear that the URL is busy`() async throws {
        try await with { caller in
            let (token, stale) = try await caller.lease(1)
            #expect(stale == nil)
            #expect(try await caller.lease(1).0 == token)
            guard case .busy(let most) = try await caller.ask(2).fate else {
                Issue.record("two have it")
                return
            }
            #expect(most > .zero && most <= QueueFixture.lease)
            #expect(try await caller.settle(token, QueueFixture.fetched("http://a/")) == .settled)
            #expect(Self.isFresh(try await caller.ask(2)))
            #expect(try await caller.fixture.redis.send(RedisCommand("EXISTS", .string(caller.fixture.key("locks")))).asInteger() == 0)
        }
    }

    @Test func `a failure is negative, and a release leaves the URL free`() async throws {
        try await with { caller in
            #expect(try await caller.settle(try await caller.lease(1).0, .handedBack) == .settled)
            let (token, _) = try await caller.lease(2)
            #expect(try await caller.settle(token, QueueFixture.failed("http://a/")) == .settled)
            guard case .negative(let outcome) = try await caller.ask(3).fate else {
                Issue.record("not negative")
                return
            }
            #expect(outcome.isNegative && outcome.content.status == 500)
        }
    }

    @Test func `an outcome whose body is missing counts for nothing, and another missing body changes nothing`() async throws {
        try await with { caller in
            try await caller.fetch()
            let others = try await caller.ask(1) { $0.missingBody = [UInt8](repeating: 8, count: 32) }
            #expect(Self.isFresh(others))
            let (token, stale) = try await caller.lease(1) { $0.missingBody = [UInt8](repeating: 7, count: 32) }
            #expect(stale == nil)
            #expect(try await caller.settle(token, .handedBack) == .settled)
        }
    }

    @Test func `an outcome is kept as long as before when a caller fetches its lost body again, also while it does so`() async throws {
        try await with { caller in
            try await caller.fetch()
            let (token, _) = try await caller.lease(1) { $0.missingBody = [UInt8](repeating: 7, count: 32) }
            #expect(try await caller.fixture.cluster.outcome(Self.id, host: "a")?.content.url == "http://a/")
            let brief = Settlement.Outcome.fetched(OutcomeContent(url: "http://a/"), Retention(fresh: .zero, keep: .seconds(1)))
            #expect(try await caller.settle(token, brief) == .settled)
            let key = caller.fixture.cluster.home.keys.outcome(Self.id)
            #expect(try await caller.fixture.redis.send(RedisCommand("PTTL", key)).asInteger() > 86_000_000)
        }
    }

    private func withClock(_ body: (Caller, MovableClock) async throws -> Void) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await body(Caller(fixture: fixture), clock)
        }
    }

    @Test func `a URL with a stale outcome is leased, and the outcome may be used where the fetch fails`() async throws {
        try await withClock { caller, clock in
            try await caller.fetch(fresh: .seconds(10))
            clock.advance(by: .seconds(9))
            #expect(Self.isFresh(try await caller.ask()))
            clock.advance(by: .seconds(1))
            let (token, stale) = try await caller.lease()
            #expect(stale?.content.url == "http://a/")
            // A repeated call has the same answer.
            let again = try await caller.lease()
            #expect(again.0 == token && again.1 == stale)
        }
    }

    @Test func `an age that the caller asks for outranks what the outcome says, in both directions`() async throws {
        try await withClock { caller, clock in
            try await caller.fetch(fresh: .seconds(10))
            clock.advance(by: .seconds(20))
            let older = try await caller.ask(1) { $0.maximumAge = .seconds(20) }
            #expect(Self.isFresh(older))
            try await caller.fetch(fresh: .seconds(3600))
            clock.advance(by: .seconds(5))
            let (token, stale) = try await caller.lease(1) { $0.maximumAge = .seconds(4) }
            #expect(stale != nil)
            #expect(try await caller.settle(token, .handedBack) == .settled)
            let younger = try await caller.ask(1) { $0.maximumAge = .seconds(5) }
            #expect(Self.isFresh(younger))
        }
    }

    @Test func `an outcome that may not be kept is only for callers that asked before it came`() async throws {
        try await withClock { caller, clock in
            let (token, _) = try await caller.lease(1)
            let waiting = try await caller.ask(2)
            clock.advance(by: .seconds(1))
            #expect(try await caller.settle(token, QueueFixture.fetched("http://a/", isStored: false)) == .settled)
            clock.advance(by: .seconds(1))
            let second = try await caller.ask(2) { $0.since = waiting.now }
            #expect(Self.isFresh(second))
            let (_, stale) = try await caller.lease(3)
            #expect(stale == nil)
        }
    }

    @Test func `a refresh accepts only a fetch that began after the caller asked`() async throws {
        try await withClock { caller, clock in
            try await caller.fetch()
            clock.advance(by: .seconds(1))
            // Another caller fetches the URL already, but began too early.
            let (token, _) = try await caller.lease(1) { $0.refresh = true }
            clock.advance(by: .seconds(1))
            let first = try await caller.ask(2) { $0.refresh = true }
            #expect(try await caller.settle(token, QueueFixture.fetched("http://a/")) == .settled)
            let refresh = { (request: inout AcquireRequest) in
                request.refresh = true
                request.since = first.now
            }
            let own = try await caller.lease(2, refresh).0
            // A caller that asks now may share the fetch that has just begun.
            let other = try await caller.ask(3) { $0.refresh = true }
            #expect(try await caller.settle(own, QueueFixture.fetched("http://a/")) == .settled)
            #expect(Self.isFresh(try await caller.ask(2, refresh)))
            let shared = try await caller.ask(3) {
                $0.refresh = true
                $0.since = other.now
            }
            #expect(Self.isFresh(shared))
        }
    }

    @Test func `a lock stays for as long as its process calls, and a lease longer`() async throws {
        try await withClock { caller, clock in
            let (token, _) = try await caller.lease(1)
            for _ in 0..<20 {
                clock.advance(by: .seconds(5))
                #expect(try await caller.fixture.exchange(token.incarnation)?.held == 1)
                guard case .busy = try await caller.ask(2).fate else {
                    Issue.record("the lock was lost")
                    return
                }
            }
            // Where there is no worker, the calls of callers move lease time on.
            var waits = 0
            while case .busy = try await caller.ask(2).fate {
                clock.advance(by: .seconds(5))
                waits += 1
                guard waits < 10 else { break }
            }
            #expect(waits == 6)
            #expect(try await caller.settle(token, .handedBack) == .lost)
        }
    }

    @Test func `callers take back the jobs of dead workers`() async throws {
        try await withClock { caller, clock in
            let fixture = caller.fixture
            try await fixture.fill([3, 4, 5])
            #expect(try await fixture.claim(3, worker: "dead").jobs.count == 3)
            var waited = Duration.zero
            while case .busy(let most) = try await caller.ask().fate {
                clock.advance(by: most)
                waited += most
                try #require(waited <= QueueFixture.lease + .seconds(5))
            }
            let counts = try await fixture.queue.counts()
            #expect(counts.crashed == 3 && counts.active == 0)
            try await fixture.expectSound()
        }
    }

    @Test func `a caller gets the last failure of a URL whose next attempt is to come`() async throws {
        try await withClock { caller, clock in
            let fixture = caller.fixture
            try await fixture.fill([3])
            let job = try #require(try await fixture.claim(1).jobs.first)
            #expect(try await fixture.settle(job, QueueFixture.retried(job.url, after: .seconds(5))) == .settled)
            guard case .waits(let failure) = try await caller.ask().fate else {
                Issue.record("the caller waits for another attempt")
                return
            }
            #expect(failure.fields[.errorClass] == "timeout")
            clock.advance(by: .seconds(5))
            #expect(try await fixture.claim(1).jobs.map(\.failures) == [1])
        }
    }
}
