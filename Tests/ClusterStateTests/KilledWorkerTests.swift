import GannetTestKit
import Testing

@testable import ClusterState

/// A worker that is killed leaves everything to the others, who do nothing but claim.
@Suite struct KilledWorkerTests {
    #if canImport(Glibc)
    @Test func `jobs of a killed process are claimed again at lease end, each charged once, with their followers and within host limits`()
        async throws
    {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<64, hosts: 8)
            let worker = try await StateWorkerProcess(fixture, jobs: 64, lease: .milliseconds(600), hostLimit: 8)
            // The same URLs once more, so that other jobs wait for them.
            try await fixture.fill(0..<64, hosts: 8, batch: "followers")
            #expect(try await fixture.claim(64, hostLimit: 8).jobs.isEmpty)
            #expect(try await fixture.queue.counts().parked == 64)
            try await worker.kill9()

            var jobs: [Job] = []
            try await eventually("all jobs of the killed process are handed out") {
                let answer = try await fixture.claim(64, hostLimit: 8)
                jobs += answer.jobs
                #expect(try await fixture.running().values.allSatisfy { $0 <= 8 })
                guard jobs.count < 64, !answer.isMore else { return jobs.count >= 64 }
                let next = try #require(answer.next, "somebody has to look again")
                #expect(next <= .milliseconds(600))
                clock.advance(by: next)
                return false
            }
            #expect(Set(jobs.map(\.entry.id)) == Set((0..<64).map(QueueFixture.id)))
            #expect(try await fixture.claimAll(64, hostLimit: 8).isEmpty)
            // Either of the two jobs for a URL may have it now, and the other follows.
            let both = jobs + (try await fixture.parked())
            #expect(both.count == 128)
            for id in Set(both.map(\.entry.id)) { #expect(both.filter { $0.entry.id == id }.map(\.crashes).sorted() == [0, 1]) }
            #expect(try await fixture.claim(64, hostLimit: 9).jobs.isEmpty)
            #expect(try await fixture.running() == Dictionary(uniqueKeysWithValues: (0..<8).map { ("h\($0)", 8) }))
            try await fixture.expectSound()

            for job in jobs { #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled) }
            #expect(try await fixture.drain() == [])
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 128 && counts.fetched == 64 && counts.cached == 64)
            #expect(counts.crashed == 64 && counts.failed == 0 && counts.isEmpty)
            try await fixture.expectEnded()
        }
    }

    @Test func `a job that three workers died with is given up, with its followers, and its URL left alone for a day`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<1)
            try await fixture.fill(0..<1, batch: "follower")
            for crashes in 0..<3 {
                let jobs = try await fixture.claim(10).jobs
                // Either of the two jobs may be handed out: the other has been waiting for it.
                #expect(jobs.map(\.entry.id) == [QueueFixture.id(0)])
                #expect(jobs[0].crashes <= crashes)
                try await fixture.endLeases(clock)
            }
            for _ in 0..<2 where try await !fixture.queue.counts().isEmpty {
                _ = try await fixture.claim(10)
                try await fixture.endLeases(clock)
            }
            let counts = try await fixture.queue.counts()
            #expect(counts.failed == 2 && counts.dead == 2 && counts.isEmpty && counts.crashed >= 3)
            #expect(try await fixture.cluster.outcome(QueueFixture.id(0))?.content.fields[.errorClass] == "poison")
            try await fixture.expectEnded()

            try await fixture.fill(0..<1, batch: "again")
            #expect(try await fixture.claim(1).failed == 1)
            clock.advance(by: .seconds(24 * 3600 + 1))
            try await fixture.fill(0..<1, batch: "next day")
            #expect(try await fixture.claim(1).jobs.count == 1)
        }
    }
    #endif
}
