import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState
@testable import Gannet

@Suite(.timeLimit(.minutes(1))) struct LeaseLossTests {
    /// Ends all leases and claims their jobs. All places of the worker must be taken, or it would claim the jobs again.
    private func takeJobs(_ fixture: WorkerFixture) async throws -> [Job] {
        try await fixture.queue.reclaimAll()
        return try await fixture.claim(10)
    }

    @Test func `a lost lease ends its fetch, and nothing comes of it`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<3)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader) {
                $0.concurrency = 3
                $0.lease = .milliseconds(300)
            }
            await downloader.waitForStarts(3)
            let jobs = try await takeJobs(fixture)
            #expect(jobs.count == 3)
            for _ in jobs { await worker.wait(for: \.isLost) }
            #expect(downloader.cancelled == 3)
            #expect(try fixture.files() == [])
            for job in jobs { #expect(try await fixture.settle(job) == .settled) }
            #expect(await worker.end.end == .empty)
            #expect(try await fixture.queue.counts() == QueueCounts(enqueued: 3, fetched: 3))
        }
    }

    @Test func `an outcome that comes after the lease was lost is not counted, and the fetch as one too many`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<2)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader) { $0.concurrency = 2 }
            await downloader.waitForStarts(2)
            for job in try await takeJobs(fixture) { #expect(try await fixture.settle(job) == .settled) }
            downloader.open()
            #expect(await worker.end.end == .empty)
            #expect(worker.count(where: \.isLost) == 2)
            var expected = QueueCounts(enqueued: 2, fetched: 2)
            expected.fenced = 2
            expected.doubleFetches = 2
            #expect(try await fixture.queue.counts() == expected)
        }
    }

    @Test func `leases of fetches that take long are extended`() async throws {
        let server = try await RedisServer.start()
        try await WorkerFixture.with(server) { fixture in
            try await fixture.fill(0..<2)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader) { $0.lease = .seconds(1) }
            await downloader.waitForStarts(2)
            func ends() async throws -> [Int] {
                let key = "{\(fixture.namespace)}expiry"
                let reply = try await fixture.redis.send(RedisCommand("ZRANGE", .string(key), "0", "-1", "WITHSCORES")).asArray()
                return try stride(from: 1, to: reply.count, by: 2).map { Int(try reply[$0].asString()) ?? 0 }
            }
            let first = try await ends()
            // Waits until all leases end later than the first ones did.
            try await eventually("both leases are extended") { try await ends().allSatisfy { $0 > (first.max() ?? 0) + 1000 } }
            downloader.open()
            #expect(await worker.end.end == .empty)
            #expect(try await fixture.queue.counts().done == 2)
        }
        try await server.stop()
    }
}
