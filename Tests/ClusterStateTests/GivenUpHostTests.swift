import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

#if canImport(Glibc)
/// A host that takes no connection for longer than anybody wants to wait.
@Suite struct GivenUpHostTests {
    private static let patience = Duration.seconds(60)

    /// Fails to connect once after each cool-down, until the host is given up.
    private func wearOut(_ fixture: QueueFixture, _ clock: MovableClock) async throws {
        for _ in 0..<40 {
            for job in try await fixture.claim(1).jobs {
                _ = try await fixture.queue.settle(
                    [Settlement(job.token, job.entry.id, .retry(after: .zero), host: .unreachable)], hostPatience: Self.patience, random: 1)
            }
            if try await fixture.host("h0")?.isGivenUp == true { return }
            clock.advance(by: .seconds(5))
        }
        Issue.record("the host is not given up")
    }

    @Test func `the jobs of a given-up host fail together, also those that come while it cools down, and others go on`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            try await fixture.fill((0..<300).map { $0 * 2 }, hosts: 2)
            try await wearOut(fixture, clock)
            #expect(try await fixture.claimAll(10).isEmpty)
            var counts = try await fixture.queue.counts()
            #expect(counts.failed == 300 && counts.isEmpty, "\(counts)")
            try await fixture.fill([1001, 1002], hosts: 2, batch: "more")
            let jobs = try await fixture.claim(10).jobs
            #expect(jobs.map(\.entry.host) == ["h1"])
            counts = try await fixture.queue.counts()
            #expect(counts.failed == 301)
            let dead = try await fixture.dump().values["q:q:dead"] ?? []
            #expect(dead.count == 301 && dead.allSatisfy { $0.contains("connect") })
        }
    }

    @Test func `a worker whose reply about such jobs was lost is told again`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            var options = BatchOptions()
            options.deliversBodies = true
            try await fixture.fill(0..<10, options: options)
            try await wearOut(fixture, clock)
            var request = ClaimRequest(3, lease: QueueFixture.lease, nonce: Nonce(7), worker: "w")
            request.host = HostRule(limit: 8)
            let first = try await fixture.queue.claim(request).jobs
            #expect(first.count == 3 && first.allSatisfy { $0.outcome?.isNegative == true })
            let again = try await fixture.queue.claim(request).jobs
            #expect(again.map(\.token) == first.map(\.token))
            #expect(again.allSatisfy { $0.outcome?.content.fields[.errorClass] == "connect" })
        }
    }

    @Test func `a given-up host is tried again after each cool-down, and is back with the first answer`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            try await fixture.fill(0..<10)
            try await wearOut(fixture, clock)
            #expect(try await fixture.claimAll(10).isEmpty)
            // The clock moves by more than the longest cool-down, but by less than the hour after which an idle host is forgotten.
            clock.advance(by: .seconds(601))
            try await fixture.fill(20..<30, batch: "more")
            let probe = try await fixture.claim(10).jobs
            #expect(probe.count == 1)
            #expect(try await fixture.settle(probe[0], QueueFixture.fetched("u")) == .settled)
            try await fixture.fill(30..<40, batch: "again")
            #expect(try await fixture.claim(10).jobs.count == 10)
            #expect(try await fixture.host("h0")?.isGivenUp == false)
        }
    }

    @Test func `a request that a redirect leads to a given-up host does not wait either`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            try await fixture.fill(0..<10)
            try await wearOut(fixture, clock)
            try await fixture.fill([3], hosts: 2, batch: "more")
            let next = try await fixture.claim(100).jobs.filter { $0.entry.host == "h1" }
            let job = try #require(next.first)
            #expect(try await fixture.cluster.move(job.token, to: "h0", usual: HostRule(limit: 8)) == .hopeless)
        }
    }

    @Test func `with endless patience, jobs wait for the host`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            try await fixture.fill(0..<10)
            for _ in 0..<30 {
                for job in try await fixture.claim(1).jobs {
                    _ = try await fixture.queue.settle(
                        [Settlement(job.token, job.entry.id, .retry(after: .zero), host: .unreachable)], random: 1)
                }
                clock.advance(by: .seconds(60))
            }
            #expect(try await fixture.host("h0")?.isGivenUp == false)
            #expect(try await fixture.queue.counts().failed == 0)
        }
    }
}
#endif
