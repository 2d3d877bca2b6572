import Foundation
import GannetRedisClient
import GannetTestKit
import Testing

@testable import Crawl
@testable import GannetQueue

@Suite(.timeLimit(.minutes(3))) struct LeaseLossTests {
    /// Takes all jobs back, and claims them as another worker. All places of the worker must be taken, or it would claim the jobs again.
    private func takeJobs(_ fixture: WorkerFixture) async throws -> [Job] {
        try await fixture.queue.reclaimAll()
        return try await fixture.claim(10)
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

    @Test func `a worker that gets its lost jobs again goes on with their transfers, and asks the origin once`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<3)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader) {
                $0.concurrency = 8
                $0.lease = .milliseconds(300)
            }
            await downloader.waitForStarts(3)
            // The jobs go back, and the worker's next exchange hears that its lease has ended.
            try await fixture.queue.reclaimAll()
            for _ in 0..<3 { await worker.wait(for: \.isLost) }
            downloader.open()
            #expect(await worker.end.end == .empty)
            #expect(downloader.urls.count == 3 && downloader.cancelled == 0)
            #expect(worker.count(where: \.isFetched) == 3)
            let bytes = 3 * WorkerFixture.url(0).utf8.count
            #expect(try await fixture.queue.counts() == QueueCounts(enqueued: 3, fetched: 3, bytes: bytes))
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
                let key = "{\(fixture.namespace)}leases"
                let reply = try await fixture.redis.send(RedisCommand("ZRANGE", .string(key), "0", "-1", "WITHSCORES")).asArray()
                return try stride(from: 1, to: reply.count, by: 2).map { Int(try reply[$0].asString()) ?? 0 }
            }
            let first = try #require(try await ends().max())
            // Waits until the lease ends later than the first one did.
            try await eventually("the lease is extended") { try await ends().contains { $0 > first + 1000 } }
            downloader.open()
            #expect(await worker.end.end == .empty)
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 2 && counts.crashed == 0)
        }
        try await server.stop()
    }

    @Test func `a worker that was cut off for two leases and gets its URL again makes one request`() async throws {
        let server = try await RedisServer.start()
        let proxy = try ReplyCuttingProxy(to: server)
        try await WorkerFixture.with(server) { fixture in
            // The worker's way to Redis. Later it leads past the proxy.
            let way = fixture.folder.file("way.sock")
            #expect(symlink(proxy.socketPath, way) == 0)
            var configuration = fixture.redis.configuration
            configuration.address = .unix(path: way)
            configuration.commandTimeout = .milliseconds(200)
            let own = try await RedisConnection.connect(configuration)
            let cut = WorkerFixture(
                redis: own, queue: ClusterState(own, namespace: fixture.namespace).queue("q"), folder: fixture.folder,
                namespace: fixture.namespace)
            try await fixture.fill(0..<1)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await cut.start(downloader, listens: false) {
                $0.lease = .milliseconds(600)
                $0.concurrency = 2
            }
            await downloader.waitForStarts(1)
            try await proxy.stop()
            // Others go on, so lease time does too, and they take the job back.
            try await eventually("the worker's job is taken back") {
                _ = try await fixture.claim(0)
                return try await fixture.queue.counts().crashed == 1
            }
            unlink(way)
            #expect(symlink(server.socketPath, way) == 0)
            await worker.wait(for: \.isLost)
            downloader.open()
            #expect(await worker.end.end == .empty)
            #expect(downloader.urls == [WorkerFixture.url(0)] && downloader.cancelled == 0)
            #expect(worker.count(where: \.isFetched) == 1)
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 1 && counts.doubleFetches == 0)
            await own.close()
        }
        try await server.stop()
    }
}
