import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

@Suite struct ClearedQueueTests {
    @Test func `jobs in flight of a cleared queue count for nothing when they end`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<5)
            let jobs = try await fixture.claim(5).jobs
            try await fixture.queue.clear()
            #expect(try await fixture.settle(jobs[0], QueueFixture.fetched(jobs[0].entry.url)) == .settled)
            #expect(
                try await fixture.settle(jobs[1], .failed(OutcomeContent(url: "u"), Retention(fresh: .zero, keep: .seconds(9)))) == .settled
            )
            #expect(try await fixture.settle(jobs[2], QueueFixture.retried("u", after: .seconds(1))) == .settled)
            #expect(try await fixture.settle(jobs[3], .handedBack) == .settled)
            #expect(try await fixture.queue.reclaimAll() == 1)
            let counts = try await fixture.queue.counts()
            #expect(counts == QueueCounts())
            #expect(try await fixture.claim(5).left == .nothing)
            let left = try await fixture.dump().values
            #expect(left[fixture.key("leases")] == nil)
            #expect(try await fixture.hostNames() == [])
        }
    }

    #if canImport(Glibc)
    @Test(arguments: [false, true])
    func `a worker that died with jobs of a purged queue counts for nothing there`(isUsedAgain: Bool) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<5)
            #expect(try await fixture.claim(5, worker: "dead").jobs.count == 5)
            try await fixture.queue.purge()
            if isUsedAgain { try await fixture.fill(5..<7, batch: "later") }
            try await fixture.endLeases(clock)
            #expect(try await fixture.claim(5, worker: "alive").jobs.count == (isUsedAgain ? 2 : 0))
            #expect(try await fixture.queue.counts().crashed == 0)
        }
    }
    #endif

    @Test func `a URL whose retry waited is free when its queue is cleared`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([0])
            let job = try await fixture.claim(1).jobs[0]
            #expect(try await fixture.settle(job, QueueFixture.retried("u", after: .seconds(60))) == .settled)
            try await fixture.queue.clear()
            try await fixture.fill([0], batch: "again")
            #expect(try await fixture.claim(1).jobs.count == 1)
        }
    }
}
