import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// A host that takes no connection for longer than anybody wants to wait.
@Suite struct GivenUpHostTests {
    private static let patience = Duration.seconds(60)

    /// A worker's exchange that asks for nothing, with an end of a job.
    private func settle(
        _ job: Job, _ outcome: Settlement.Outcome, _ host: Settlement.HostNews, _ fixture: QueueFixture, patience: Duration = patience,
        probes: Int = 0
    ) async throws {
        let answer = try await fixture.claim(0) {
            $0.settlements = [Settlement(job.token, job.id, outcome, host: host)]
            $0.hostPatience = HostPatience(patience, probes: probes)
            $0.random = 1
        }
        #expect(answer.verdicts == [.settled])
    }

    /// Fails to connect once after each cool-down, until the host is given up.
    private func wearOut(_ fixture: QueueFixture, _ clock: MovableClock) async throws {
        for _ in 0..<40 {
            for job in try await fixture.claim(1).jobs {
                try await settle(job, QueueFixture.retried(job.url, after: .zero), .silent, fixture)
            }
            if try await fixture.host("h0")?.isGivenUp == true { return }
            clock.advance(by: .seconds(5))
        }
        Issue.record("the host is not given up")
    }

    /// Another queue that has the turn at a given-up host which may be probed: its probe was handed back, and it has a job aside there.
    private func queueWithTurn(_ fixture: QueueFixture, _ clock: MovableClock) async throws -> QueueFixture {
        let other = QueueFixture(
            redis: fixture.redis, cluster: fixture.cluster, queue: fixture.cluster.queue("other"), namespace: fixture.namespace)
        try await fixture.fill(0..<10)
        try await wearOut(fixture, clock)
        for job in try await fixture.claimAll(10) { try await settle(job, QueueFixture.failed(job.url), .none, fixture) }
        clock.advance(by: .seconds(601))
        try await other.fill(20..<22)
        let probe = try #require(try await other.claim(1, worker: "other").jobs.first)
        #expect(!probe.isHopeless)
        _ = try await other.claim(0, worker: "other") {
            $0.settlements = [Settlement(probe.token, probe.id, .handedBack, host: .none)]
        }
        return other
    }

    @Test func `the jobs of a given-up host are handed out without a place, also those that come while it rests, and others go on`()
        async throws
    {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill((0..<300).map { $0 * 2 }, hosts: 2)
            try await wearOut(fixture, clock)
            let all = try await fixture.claimAll(100)
            #expect(all.count == 300 && Set(all.map(\.id)).count == 300)
            #expect(all.allSatisfy { $0.host == "h0" && $0.isHopeless && $0.outcome == nil })
            #expect(try await fixture.running().isEmpty)
            for job in all { try await settle(job, QueueFixture.failed(job.url), .none, fixture) }
            let counts = try await fixture.queue.counts()
            #expect(counts.failed == 300 && counts.dead == 300 && counts.isEmpty, "\(counts)")
            #expect(try await fixture.host("h0")?.isGivenUp == true)

            try await fixture.fill([1001, 1002], hosts: 2, batch: "more")
            let jobs = try await fixture.claimAll(10)
            #expect(Set(jobs.map { "\($0.host) \($0.isHopeless)" }) == ["h1 false", "h0 true"])
            try await fixture.expectSound()
        }
    }

    @Test func `a worker whose reply about such jobs was lost is told again`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<10)
            try await wearOut(fixture, clock)
            var request = ExchangeRequest(Incarnation(7), number: 1, lease: QueueFixture.lease)
            request.wanted = 3
            let first = try #require(try await fixture.queue.exchange(request, in: fixture.cluster.home)).jobs
            #expect(first.count == 3 && first.allSatisfy(\.isHopeless))
            let again = try #require(try await fixture.queue.exchange(request, in: fixture.cluster.home)).jobs
            #expect(again.map(\.token) == first.map(\.token) && again.allSatisfy(\.isHopeless))
        }
    }

    @Test func `a given-up host is tried again after each cool-down, and is back with the first answer`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            try await fixture.fill(0..<10)
            try await wearOut(fixture, clock)
            for job in try await fixture.claimAll(10) {
                #expect(job.isHopeless)
                try await settle(job, QueueFixture.failed(job.url), .none, fixture)
            }
            // The clock moves by more than the longest cool-down, but by less than the hour after which an idle host is forgotten.
            clock.advance(by: .seconds(601))
            try await fixture.fill(20..<30, batch: "more")
            // One request is made, and the other jobs wait for its end.
            let probe = try await fixture.claim(10).jobs
            #expect(probe.count == 1 && !probe[0].isHopeless)
            #expect(try await fixture.claim(10).jobs.isEmpty)
            #expect(try await fixture.settle(probe[0], QueueFixture.fetched("u")) == .settled)
            #expect(try await fixture.claimAll(10).count { !$0.isHopeless } == 9)
            #expect(try await fixture.host("h0")?.isGivenUp == false)
        }
    }

    @Test func `queues take turns at the requests that probe a given-up host`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            let other = try await queueWithTurn(fixture, clock)
            try await fixture.fill([30], batch: "later")
            #expect(try await fixture.claim(1).jobs.isEmpty)
            #expect(try await other.claim(1, worker: "other").jobs.map(\.isHopeless) == [false])
            #expect(try await fixture.claim(1).jobs.isEmpty, "it waits for the probe")
        }
    }

    @Test func `a queue that does not come to a given-up host costs the others a moment`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            _ = try await queueWithTurn(fixture, clock)
            try await fixture.fill(30..<33, batch: "later")
            var (answer, waited) = (try await fixture.claim(3), Duration.zero)
            while answer.jobs.isEmpty {
                let next = try #require(answer.next)
                clock.advance(by: next)
                waited += next
                try #require(waited <= .milliseconds(250))
                answer = try await fixture.claim(3)
            }
            #expect(waited > .zero && answer.jobs.map(\.isHopeless) == [false])
        }
    }

    @Test func `a request that a redirect leads to a given-up host does not wait either`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            try await fixture.fill(0..<10)
            try await wearOut(fixture, clock)
            try await fixture.fill([1003], hosts: 2, batch: "more")
            let next = try await fixture.claimAll(100).filter { $0.host == "h1" }
            let job = try #require(next.first)
            #expect(
                try await fixture.queue.move(job, to: "h0", usual: HostRule(limit: 8, first: 1000), lease: QueueFixture.lease) == .hopeless)
        }
    }

    @Test func `with endless patience, jobs wait for the host`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            try await fixture.fill(0..<10)
            for _ in 0..<30 {
                for job in try await fixture.claim(1).jobs {
                    try await settle(job, QueueFixture.retried(job.url, after: .zero), .silent, fixture, patience: .zero)
                }
                clock.advance(by: .seconds(60))
            }
            #expect(try await fixture.host("h0")?.isGivenUp == false)
            #expect(try await fixture.queue.counts().failed == 0)
        }
    }
}
