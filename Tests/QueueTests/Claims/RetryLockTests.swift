import GannetTestKit
import Testing

@testable import GannetQueue

/// A URL stays locked until its retry. The lock goes when the retry does not start.
@Suite struct RetryLockTests {
    @Test func `a delayed job that falls due with a cancelled retry of its URL is fetched`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            let cancelled = try await fixture.fill([7], batch: "cancelled")
            let job = try await fixture.claim(1).jobs[0]
            #expect(try await fixture.settle(job, QueueFixture.retried(job.url, after: .seconds(1))) == .settled)
            _ = try await fixture.queue.cancel(batch: cancelled)
            var options = BatchOptions()
            options.delay = .seconds(2)
            try await fixture.fill([7], batch: "delayed", options: options)
            clock.advance(by: .seconds(3))
            #expect(try await fixture.claim(5).jobs.count == 1)
        }
    }
}
