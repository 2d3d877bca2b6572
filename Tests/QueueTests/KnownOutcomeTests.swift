import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// Jobs whose URL has an outcome already.
@Suite struct KnownOutcomeTests {
    @Test func `a job with a known outcome is handed out to be delivered, without a place at the host`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<2)
            try await fixture.drain()
            try await fixture.fill(0..<2, batch: "c")
            let jobs = try await fixture.claim(2, hostLimit: 1).jobs
            #expect(jobs.count == 2 && jobs.allSatisfy { $0.outcome?.content.url == $0.entry.url })
            #expect(try await fixture.running() == [:])
            #expect(try await fixture.settle(jobs[0], .delivered) == .settled)
            // The body of the other job is gone, so that job is fetched.
            #expect(try await fixture.settle(jobs[1], .bodyMissing(digest: [UInt8](repeating: 7, count: 32))) == .settled)
            let again = try await fixture.claim(2).jobs
            #expect(again.map(\.entry.id) == [QueueFixture.id(1)] && again[0].outcome == nil)
            #expect(try await fixture.settle(again[0], QueueFixture.fetched("u")) == .settled)
            #expect(try await fixture.queue.counts().cached == 1)
            try await fixture.expectEnded()
        }
    }

    /// How long the outcomes of these jobs are kept, in days.
    private static func days(_ jobs: [Job], _ fixture: QueueFixture) async throws -> [Double] {
        let replies = await fixture.redis.pipeline(jobs.map { RedisCommand("PTTL", fixture.cluster.home.keys.outcome($0.id)) })
        return try replies.map { Double(try $0.get().asInteger()) / 86_400_000 }
    }

    private static func outcome(_ job: Job, keptFor time: Duration) -> Settlement.Outcome {
        .fetched(OutcomeContent(url: job.url), Retention(fresh: .seconds(60), keep: time))
    }

    @Test(arguments: [Keeping.bodies, .wire, .cache])
    func `an outcome that ends a job is kept until its batch is exported, for a month, and for a day where the batch is a cache`(
        keeping: Keeping
    ) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<2)
            let first = try await fixture.claim(2).jobs
            for (job, keep) in zip(first, [Duration.seconds(60), .seconds(60 * 86_400)]) {
                #expect(try await fixture.settle(job, Self.outcome(job, keptFor: keep)) == .settled)
            }
            var options = BatchOptions()
            options.keeping = keeping
            try await fixture.fill(0..<2, batch: "c", options: options)
            let delivered = try await fixture.claim(2).jobs
            #expect(delivered.count == 2 && delivered.allSatisfy { $0.outcome != nil })
            let days = try await Self.days(first, fixture)
            let least = keeping == .cache ? 0.99 : 30.99
            #expect(days[0] > least && days[0] <= least + 0.01 && days[1] > 59.99, "\(days)")
            #expect(keeping.outcomesKept == .seconds(least > 1 ? 31 * 86_400 : 86_400))
        }
    }

    @Test(arguments: [false, true])
    func `a job that could not be delivered is handed out again, and its URL is not charged`(isThrottled: Bool) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<1)
            try await fixture.drain()
            try await fixture.fill(0..<1, batch: "c")
            let job = try #require(try await fixture.claim(1).jobs.first)
            let outcome =
                isThrottled ? Settlement.Outcome.throttled(OutcomeContent(url: "u"), for: nil) : QueueFixture.retried("u", after: .zero)
            #expect(try await fixture.settle(job, outcome) == .settled)
            try await fixture.expectSound()
            let again = try #require(try await fixture.claim(1).jobs.first)
            #expect(again.outcome != nil && again.failures == 0 && again.token != job.token)
            #expect(try await fixture.settle(again, .delivered) == .settled)
            try await fixture.expectEnded()
        }
    }

    @Test func `a job whose URL has failed is handed out with that failure, and fails with it`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<1)
            let job = try #require(try await fixture.claim(1).jobs.first)
            #expect(try await fixture.settle(job, QueueFixture.failed(job.url)) == .settled)
            try await fixture.fill(0..<1, batch: "c")
            let later = try #require(try await fixture.claim(1).jobs.first)
            #expect(later.outcome?.isNegative == true)
            #expect(try await fixture.settle(later, QueueFixture.failed(job.url)) == .settled)
            let counts = try await fixture.queue.counts()
            #expect(counts.failed == 2 && counts.dead == 2)
            try await fixture.expectEnded()
        }
    }

    @Test func `a job whose outcome is too old is handed out with that outcome, also when the exchange is repeated`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            try await fixture.fill(0..<3)
            let old = try await fixture.claim(3).jobs
            #expect(old.allSatisfy { $0.stale == nil })
            #expect(try await fixture.settle(old[0], QueueFixture.fetched(old[0].entry.url)) == .settled)
            #expect(try await fixture.settle(old[1], QueueFixture.fetched(old[1].entry.url, isStored: false)) == .settled)
            #expect(try await fixture.settle(old[2], QueueFixture.failed(old[2].entry.url)) == .settled)
            clock.advance(by: .seconds(1))
            var options = BatchOptions()
            options.refresh = true
            try await fixture.fill(0..<3, batch: "c", options: options)
            var request = ExchangeRequest(Incarnation(1), number: 1, lease: QueueFixture.lease)
            request.wanted = 3
            request.host = HostRule(limit: 8, first: 8)
            for _ in 0..<2 {
                let jobs = try #require(try await fixture.queue.exchange(request, in: fixture.cluster.home)).jobs
                #expect(jobs.map(\.stale?.content.url) == [old[0].entry.url, nil, nil] && jobs.allSatisfy { $0.outcome == nil })
            }
        }
    }
}
