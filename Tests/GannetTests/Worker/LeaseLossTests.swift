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

    @Test func `leases of fetches that take long are kept`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<2)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader) { $0.lease = .milliseconds(200) }
            await downloader.waitForStarts(2)
            // Several leases pass in Redis, while somebody else is keen on the jobs.
            for _ in 0..<8 {
                try await RedisServer.shared.command("BLPOP", "nothing", "0.1")
                #expect(try await fixture.queue.claim(9, lease: .seconds(60)).jobs.isEmpty)
            }
            downloader.open()
            #expect(await worker.end.end == .empty)
            #expect(try await fixture.queue.counts().done == 2)
        }
    }
}
