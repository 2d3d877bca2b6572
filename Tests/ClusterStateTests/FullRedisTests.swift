import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

/// A Redis whose memory is used up.
@Suite struct FullRedisTests {
    @Test func `a full Redis refuses whole chunks of new jobs, and lets the jobs that it has come to their end`() async throws {
        let server = try await RedisServer.start()
        try await QueueFixture.with(server) { fixture in
            try await fixture.fill(0..<8, hosts: 2)
            try await fixture.fill(0..<2, hosts: 2, batch: "followers")
            let number = try await fixture.queue.begin(batch: "c").number
            let entries = try (20..<30).map { try QueueFixture.entry($0) }
            try await server.command("CONFIG", "SET", "maxmemory", "1")
            let before = try await fixture.dump()
            for delay in [Duration.zero, .seconds(9)] {
                let error = await #expect(throws: StateError.self) {
                    try await fixture.queue.enqueue(entries, batch: number, from: 0, to: 10, delay: delay)
                }
                guard case .redis(let cause) = error, cause.kind == .outOfMemory else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
            await #expect(throws: StateError.self) { try await fixture.queue.begin(batch: "d") }
            await #expect(throws: StateError.self) {
                try await fixture.cluster.acquire(AcquireRequest(id: QueueFixture.id(50), nonce: Nonce(1), lease: QueueFixture.lease))
            }
            #expect(try await fixture.dump().differences(from: before) == [])

            // First one job for each outcome, then the rest.
            let jobs = try await fixture.claim(20).jobs
            #expect(jobs.count == 8)
            // A worker that finds nothing is answered as well, with leases and without, and may leave its inbox.
            var idle = ClaimRequest(8, lease: QueueFixture.lease, nonce: Nonce(99), worker: "idle")
            #expect(try await fixture.queue.claim(idle).jobs.isEmpty)
            idle.inbox = fixture.cluster.inbox(of: "idle")
            #expect(try await fixture.queue.claim(idle).jobs.isEmpty)
            #expect(try await fixture.cluster.renew(jobs.map(\.token), lease: QueueFixture.lease) == [])
            let outcomes: [Settlement.Outcome] = [
                QueueFixture.fetched("http://h0/0"), QueueFixture.failed("http://h1/1"), .handedBack, .retry(after: .milliseconds(1)),
                QueueFixture.fetched("http://h0/4"),
            ]
            for (job, outcome) in zip(jobs, outcomes) { #expect(try await fixture.settle(job, outcome) == .settled) }
            try await fixture.queue.pause()
            try await fixture.queue.resume()
            #expect(try await fixture.queue.reclaimAll() == 3)
            try await eventually("the delayed job is fetched too") {
                try await fixture.drain()
                return try await fixture.queue.counts().delayed == 0
            }
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 8 && counts.failed == 2 && counts.crashed == 0 && counts.cached == 1)
            #expect(try await fixture.queue.claim(idle).jobs.isEmpty)
            try await fixture.expectEnded()
            #expect(try await fixture.queue.cancel(batch: number) == 0)
            try await fixture.queue.clear()
        }
        try await server.stop()
    }
}
