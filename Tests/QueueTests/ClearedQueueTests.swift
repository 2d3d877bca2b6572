import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

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
            #expect(counts == .nothing())
            #expect(try await fixture.claim(5).left == .nothing)
            let left = try await fixture.dump().values
            #expect(left[fixture.key("leases")] == nil)
            #expect(try await fixture.hostNames() == [])
        }
    }

    @Test func `a worker that died with jobs of a purged queue counts for nothing there, while others work on its new jobs`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<5)
            #expect(try await fixture.claim(5, worker: "dead").jobs.count == 5)
            try await fixture.queue.purge()
            try await fixture.fill(5..<25, batch: "later")
            // One of these calls takes the dead worker's jobs back, and hands a new one out.
            for _ in 0..<12 {
                clock.advance(by: .seconds(5))
                #expect(try await fixture.claim(1, worker: "alive").jobs.count == 1)
            }
            let counts = try await fixture.queue.counts()
            #expect(counts.crashed == 0 && counts.enqueued == 20)
        }
    }

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
