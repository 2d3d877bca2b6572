import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// Some thousand jobs for one slow URL, among others on other hosts. They are many more than an exchange hands out.
@Suite(.timeLimit(.minutes(4))) struct SlowURLTests {
    private static let slow = 1_000_000
    private static let followers = 2500
    private static let others = 500

    /// One job in six is for another URL.
    private static func fill(_ fixture: QueueFixture) async throws {
        let slow = try JobEntry(id: QueueFixture.id(slow), host: "slow", url: "http://slow/")
        for start in stride(from: 0, to: followers + others, by: 1000) {
            let entries = try (start..<start + 1000).map { $0 % 6 == 5 ? try QueueFixture.entry($0, hosts: 500) : slow }
            try await fixture.accept(entries, closing: start + 1000 == followers + others)
        }
    }

    /// Exchanges of eight workers until all jobs for other URLs are done. Returns the one job for the slow URL.
    private static func work(_ fixture: QueueFixture) async throws -> Job {
        let found = try await withThrowingTaskGroup(of: [Job].self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var mine: [Job] = []
                    var held: [Job] = []
                    repeat {
                        let settlements = held.map { Settlement($0.token, $0.id, QueueFixture.fetched($0.url), host: .answered) }
                        let answer = try await fixture.claim(64, hostLimit: 2, worker: "w\(worker)") { $0.settlements = settlements }
                        #expect(answer.verdicts.allSatisfy { $0 == .settled })
                        mine += answer.jobs.filter { $0.host == "slow" }
                        held = answer.jobs.filter { $0.host != "slow" }
                    } while try await fixture.queue.counts().fetched < others
                    return mine
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        // The rest of the queue holds only followers.
        #expect(try await fixture.claimAll(64).isEmpty)
        return try #require(found.count == 1 ? found.first : nil, "\(found.count) have the URL")
    }

    private static func expectParked(_ fixture: QueueFixture) async throws {
        let counts = try await fixture.queue.counts()
        #expect(counts.active == 1 && counts.parked == followers - 1 && counts.ready == 0)
        #expect(try await fixture.running() == ["slow": 1])
    }

    @Test(arguments: [true, false])
    func `one job fetches, the others wait without a place, and all end with that answer, even one that may not be kept`(
        isStored: Bool
    ) async throws {
        try await QueueFixture.with { fixture in
            try await Self.fill(fixture)
            let job = try await Self.work(fixture)
            try await Self.expectParked(fixture)
            #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url, isStored: isStored)) == .settled)
            #expect(try await fixture.work().jobs.allSatisfy { $0.outcome != nil })
            let counts = try await fixture.queue.counts()
            #expect(counts.fetched == Self.others + 1 && counts.cached == Self.followers - 1 && counts.failed == 0)
            try await fixture.expectEnded()
        }
    }

    @Test func `when the holder dies, one of the others takes over at the end of its lease`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await Self.fill(fixture)
            let late = try await Self.work(fixture)
            clock.advance(by: .seconds(5))
            #expect(try await fixture.claim(64).jobs.isEmpty)
            try await fixture.endLeases(clock)
            let jobs = try await fixture.claimSoon(64)
            #expect(jobs.count == 1 && jobs[0].entry.host == "slow" && jobs[0].token != late.token)
            try await Self.expectParked(fixture)
            #expect(try await fixture.settle(jobs[0], QueueFixture.fetched("http://slow/")) == .settled)
            try await fixture.work()
            let counts = try await fixture.queue.counts()
            #expect(counts.cached == Self.followers - 1 && counts.crashed == 1)
            try await fixture.expectEnded()
        }
    }

    @Test func `an origin that fails is asked as often as one job may try, and all jobs fail with that one`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await Self.fill(fixture)
            var job = try await Self.work(fixture)
            let retries = 3
            for attempt in 0..<retries {
                #expect(job.failures == attempt)
                #expect(try await fixture.settle(job, QueueFixture.retried(job.url, after: .seconds(10))) == .settled)
                #expect(try await fixture.claim(64).jobs.isEmpty)
                clock.advance(by: .seconds(10))
                let jobs = try await fixture.claim(64).jobs
                #expect(jobs.count == 1)
                job = jobs[0]
            }
            #expect(job.failures == retries)
            try await Self.expectParked(fixture)
            #expect(try await fixture.settle(job, QueueFixture.failed("http://slow/")) == .settled)
            #expect(try await fixture.work().jobs.allSatisfy { $0.outcome?.isNegative == true })
            let counts = try await fixture.queue.counts()
            #expect(counts.failed == Self.followers && counts.retried == retries && counts.done == Self.others)
            #expect(counts.dead == Self.followers)
            try await fixture.expectEnded()
        }
    }

    /// The reason for which the queue that had the URL does not carry it on.
    enum Stop: CaseIterable, Sendable { case pause, cancel, purge, nothingButAnotherQueuesTurn }

    @Test(arguments: Stop.allCases)
    func `a delayed retry belongs to the URL, and a follower of another queue carries it on with its count`(stop: Stop) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            let batch = try await fixture.fill([0])
            let job = try await fixture.claim(1).jobs[0]
            #expect(try await fixture.settle(job, QueueFixture.retried(job.url, after: .seconds(10))) == .settled)
            let other = fixture.cluster.queue("other")
            var progress = try await other.begin(batch: "b")
            _ = try await other.enqueue([(entry: job.entry, row: 1)], to: 1, of: &progress, closing: true)
            func claim(_ number: Int) async throws -> ExchangeAnswer {
                var request = ExchangeRequest(Incarnation(7), number: number, lease: QueueFixture.lease)
                request.wanted = 8
                return try #require(try await other.exchange(request, in: fixture.cluster.home))
            }
            #expect(try await claim(1).jobs.isEmpty)
            switch stop {
            case .pause: try await fixture.queue.pause()
            case .cancel: _ = try await fixture.queue.cancel(batch: batch)
            case .purge: try await fixture.queue.purge()
            case .nothingButAnotherQueuesTurn: break
            }
            let early = try await claim(2)
            #expect(early.jobs.isEmpty && early.next.map { $0 <= .seconds(10) } == true)
            #expect(try await other.counts().parked == 1)
            clock.advance(by: .seconds(10))
            let jobs = try await claim(3).jobs
            #expect(jobs.map(\.id) == [job.id] && jobs.map(\.failures) == [1])
            try await fixture.expectSound()
        }
    }

    @Test func `settling costs the same with a million followers as with ten`() async throws {
        let few = try await SettlementCost(followers: 10)
        let many = try await SettlementCost(followers: 1_000_000)
        #expect(few.commands == many.commands && many.commands <= 30, "\(few.commands) \(many.commands)")
    }
}
