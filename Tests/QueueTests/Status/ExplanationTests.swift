import GannetRedisClient
import Testing

@testable import GannetQueue

/// Explanations of a URL and its host.
@Suite struct ExplanationTests {
    @Test func `a URL that is fetched has a worker, a batch and followers`() async throws {
        try await QueueFixture.with { fixture in
            let batch = try await fixture.fill([0, 0, 0])
            let job = try await fixture.claim(3).jobs[0]
            let found = try await fixture.cluster.explain(job.id, host: "h0")
            let holder = try #require(found.holder)
            #expect(holder.kind == .worker && holder.queue == "q" && holder.batch == batch)
            #expect(found.heldFor > .seconds(20) && found.heldFor <= QueueFixture.lease)
            #expect(found.followers == 2)
            #expect(found.standing.running == 1 && found.outcome == nil && found.standing.rule == nil && found.retriesIn == nil)
        }
    }

    @Test func `a URL that waits for its next attempt has its attempts, its last failure and its time`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([0])
            let job = try await fixture.claim(1).jobs[0]
            #expect(try await fixture.settle(job, QueueFixture.retried(job.url, after: .seconds(60))) == .settled)
            let found = try await fixture.cluster.explain(job.id, host: "h0")
            let holder = try #require(found.holder)
            #expect(holder.kind == .retry && holder.failures == 1 && holder.crashes == 0 && !holder.isSuspect && holder.queue.isEmpty)
            #expect(holder.lastFailure?.fields[.errorClass] == "timeout")
            let wait = try #require(found.retriesIn)
            #expect(wait > .seconds(50) && wait <= .seconds(60))
            #expect(found.followers == 1)
        }
    }

    @Test func `a URL that a worker died with is a suspect`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            try await fixture.fill([0])
            #expect(try await fixture.claim(1).jobs.count == 1)
            try await fixture.endLeases(clock, of: QueueFixture.lease)
            let holder = try #require(try await fixture.cluster.explain(QueueFixture.id(0), host: "h0").holder)
            #expect(holder.kind == .retry && holder.isSuspect && holder.crashes == 1)
        }
    }

    @Test func `a caller without a job is a program, and processes that wait are counted`() async throws {
        try await QueueFixture.with { fixture in
            for number in 1...3 {
                var request = AcquireRequest(
                    id: QueueFixture.id(0), host: "h0", incarnation: Incarnation(UInt64(number)), nonce: UInt64(number),
                    lease: QueueFixture.lease)
                request.inbox = "p\(number)"
                _ = try await fixture.cluster.acquire(request)
            }
            let found = try await fixture.cluster.explain(QueueFixture.id(0), host: "h0")
            #expect(found.holder?.kind == .program && found.waiters == 2 && found.followers == 0)
        }
    }

    @Test func `an unknown URL has nothing`() async throws {
        try await QueueFixture.with { fixture in
            let found = try await fixture.cluster.explain(QueueFixture.id(0), host: "h0")
            #expect(found.holder == nil && found.outcome == nil && found.followers == 0 && found.standing.running == 0)
        }
    }
}
