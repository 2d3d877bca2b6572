import GannetRedisClient
import GannetTestKit
import Testing

@testable import Crawl
@testable import GannetQueue

/// Exchanges that Redis carried out and whose answers were lost.
@Suite(.timeLimit(.minutes(3))) struct LostReplyTests {
    /// Starts a worker whose first exchange gets three jobs and no answer. `body` gets it while the server does not answer.
    private func with(_ body: (RedisServer, WorkerFixture, ScriptedDownloader, RunningWorker) async throws -> Void) async throws {
        let server = try await RedisServer.start()
        try await WorkerFixture.with(server, timeout: .milliseconds(300)) { fixture in
            // Redis has to know the script of exchanges, or the lost call would only ask for it.
            #expect(try await fixture.claim(1).isEmpty)
            try await fixture.fill(0..<3)
            server.pause()
            let downloader = ScriptedDownloader { .body($0) }
            let worker = try await fixture.start(downloader, listens: false)
            await worker.wait { if case .redis(.began) = $0 { true } else { false } }
            #expect(downloader.urls.isEmpty)
            try await body(server, fixture, downloader, worker)
        }
        try await server.stop()
    }

    @Test func `the repeated exchange brings the same jobs, and charges none of them a crash`() async throws {
        try await with { server, fixture, downloader, worker in
            server.resume()
            // The jobs come far sooner than the end of the lease.
            #expect(await worker.end.end == .empty)
            #expect(Set(downloader.urls).count == 3 && downloader.urls.count == 3)
            let bytes = 3 * WorkerFixture.url(0).utf8.count
            let counts = try await fixture.queue.counts()
            #expect(counts == QueueCounts(enqueued: 3, fetched: 3, bytes: bytes))
        }
    }

    @Test func `a worker that is to stop hands back the jobs of an exchange whose answer was lost`() async throws {
        try await with { server, fixture, downloader, worker in
            worker.stop()
            server.resume()
            #expect(await worker.end.end == .drained)
            #expect(downloader.urls.isEmpty)
            let counts = try await fixture.queue.counts()
            #expect(counts == QueueCounts(ready: 3, enqueued: 3))
        }
    }

    @Test func `an outcome whose verdict was lost is settled once`() async throws {
        let server = try await RedisServer.start()
        try await WorkerFixture.with(server, timeout: .milliseconds(300)) { fixture in
            try await fixture.fill(0..<1)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader) { $0.concurrency = 2 }
            await downloader.waitForStarts(1)
            server.pause()
            downloader.open()
            await worker.wait { if case .redis(.began) = $0 { true } else { false } }
            server.resume()
            #expect(await worker.end.end == .empty)
            #expect(worker.count(where: \.isFetched) == 1 && worker.count(where: \.isLost) == 0)
            #expect(try await fixture.queue.counts() == QueueCounts(enqueued: 1, fetched: 1, bytes: WorkerFixture.url(0).utf8.count))
        }
        try await server.stop()
    }
}
