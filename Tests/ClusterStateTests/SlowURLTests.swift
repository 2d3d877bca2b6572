import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

/// Ten thousand jobs for one slow URL, among two thousand for others on other hosts.
@Suite struct SlowURLTests {
    private static let slow = 1_000_000
    private static let followers = 10_000
    private static let others = 2_000

    /// One job in six is for another URL.
    private static func fill(_ fixture: QueueFixture) async throws {
        let slow = try JobEntry(id: QueueFixture.id(slow), host: "slow", url: "http://slow/")
        let number = try await fixture.queue.begin(batch: "b").number
        for start in stride(from: 0, to: followers + others, by: 1000) {
            let entries = try (start..<start + 1000).map { $0 % 6 == 5 ? try QueueFixture.entry($0, hosts: 500) : slow }
            _ = try await fixture.queue.enqueue(
                entries, batch: number, from: start, to: start + 1000, closing: start + 1000 == followers + others)
        }
    }

    /// Claims of eight workers until all jobs for other URLs are done. Returns the one job for the slow URL.
    private static func work(_ fixture: QueueFixture) async throws -> Job {
        let found = try await withThrowingTaskGroup(of: [Job].self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var mine: [Job] = []
                    try await eventually("all other URLs are fetched") {
                        let jobs = try await fixture.claim(64, hostLimit: 2, worker: "w\(worker)").jobs
                        mine += jobs.filter { $0.entry.host == "slow" }
                        let settlements = jobs.filter { $0.entry.host != "slow" }.map {
                            Settlement($0.token, $0.entry.id, QueueFixture.fetched($0.entry.url), host: .answered)
                        }
                        #expect(try await fixture.queue.settle(settlements, random: 0.5).allSatisfy { $0 == .settled })
                        return try await fixture.queue.counts().fetched == others
                    }
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
            #expect(try await fixture.drain() == [])
            let counts = try await fixture.queue.counts()
            #expect(counts.fetched == Self.others + 1 && counts.cached == Self.followers - 1 && counts.failed == 0)
            try await fixture.expectEnded()
        }
    }

    #if canImport(Glibc)
    @Test func `when the holder dies, one of the others takes over at lock end`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await Self.fill(fixture)
            let late = try await Self.work(fixture)
            clock.advance(by: .seconds(5))
            #expect(try await fixture.claim(64).jobs.isEmpty)
            try await fixture.endLeases(clock)
            let jobs = try await fixture.claimAll(64)
            #expect(jobs.count == 1 && jobs[0].entry.host == "slow" && jobs[0].token != late.token)
            try await Self.expectParked(fixture)
            #expect(try await fixture.settle(jobs[0], QueueFixture.fetched("http://slow/")) == .settled)
            #expect(try await fixture.drain() == [])
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
                #expect(try await fixture.settle(job, .retry(after: .seconds(10))) == .settled)
                #expect(try await fixture.claim(64).jobs.isEmpty)
                clock.advance(by: .seconds(10))
                let jobs = try await fixture.claim(64).jobs
                #expect(jobs.count == 1)
                job = jobs[0]
            }
            #expect(job.failures == retries)
            try await Self.expectParked(fixture)
            #expect(try await fixture.settle(job, QueueFixture.failed("http://slow/")) == .settled)
            #expect(try await fixture.drain() == [])
            let counts = try await fixture.queue.counts()
            #expect(counts.failed == Self.followers && counts.retried == retries && counts.done == Self.others)
            #expect(counts.dead == Self.followers)
            try await fixture.expectEnded()
        }
    }
    #endif

    @Test func `settling costs the same with a hundred thousand followers as with ten`() async throws {
        let few = try await SettlementCost(followers: 10)
        let many = try await SettlementCost(followers: 100_000)
        #expect(few.commands == many.commands)
        #expect(many.commands < 60)
    }
}
