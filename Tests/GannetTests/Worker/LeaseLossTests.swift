import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState
@testable import FetchQueue
@testable import Gannet

@Suite(.timeLimit(.minutes(1))) struct LeaseLossTests {
    /// Takes all leases away, as if others had the jobs.
    private func takeLeases(_ fixture: WorkerFixture) async throws {
        for key in ["leases", "expiry"] {
            try await fixture.redis.send(RedisCommand("DEL", .string("{\(fixture.namespace)}q:q:\(key)")))
        }
    }

    @Test func `a lost lease ends its fetch, and nothing comes of it`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<3)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader) { $0.lease = .milliseconds(300) }
            await downloader.waitForStarts(3)
            try await takeLeases(fixture)
            #expect(await worker.end.end == .empty)
            #expect(downloader.cancelled == 3)
            #expect(worker.count(where: \.isLost) == 3)
            #expect(try fixture.files() == [])
            #expect(try await fixture.queue.counts() == QueueCounts(enqueued: 3))
        }
    }

    @Test func `an outcome that comes after the lease was lost is not counted`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<2)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader)
            await downloader.waitForStarts(2)
            try await takeLeases(fixture)
            downloader.open()
            #expect(await worker.end.end == .empty)
            #expect(worker.count(where: \.isLost) == 2)
            #expect(try await fixture.queue.counts() == QueueCounts(enqueued: 2))
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
                let key = "{\(fixture.namespace)}q:q:expiry"
                let reply = try await fixture.redis.send(RedisCommand("ZRANGE", .string(key), "0", "-1", "WITHSCORES")).asArray()
                return try stride(from: 1, to: reply.count, by: 2).map { Int(try reply[$0].asString()) ?? 0 }
            }
            let first = try await ends()
            // Further than the leases went at first; a little of Redis' time passes between two looks.
            while try await ends().allSatisfy({ $0 > (first.max() ?? 0) + 1000 }) == false {
                try await server.command("BLPOP", "nothing", "0.05")
            }
            downloader.open()
            #expect(await worker.end.end == .empty)
            #expect(try await fixture.queue.counts().done == 2)
        }
        try await server.stop()
    }
}
