import Foundation
import GannetRedisClient
import GannetTestKit
import Testing

@testable import Crawl
@testable import GannetQueue

@Suite(.timeLimit(.minutes(3))) struct StopTests {
    @Test func `after the first stop, jobs in flight end and no more are claimed`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<10)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader) { $0.concurrency = 3 }
            await downloader.waitForStarts(3)
            worker.stop()
            // A stopping worker claims no announced jobs either.
            try await fixture.fill(10..<12, batch: "c")
            downloader.open()
            #expect(await worker.end.end == .drained)
            #expect(downloader.urls.count <= 4)
            let counts = try await fixture.queue.counts()
            #expect(counts.done == downloader.urls.count && counts.ready == 12 - counts.done && counts.active == 0)
        }
    }

    @Test func `the second stop hands back the jobs in flight, uncharged`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<10)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader) { $0.concurrency = 3 }
            await downloader.waitForStarts(3)
            worker.stop()
            worker.stop()
            #expect(await worker.end.end == .handedBack)
            #expect(worker.count(where: \.isHandedBack) == 3)
            #expect(downloader.cancelled == 3)
            #expect(try await fixture.queue.counts() == QueueCounts(ready: 10, enqueued: 10))
            #expect(try await fixture.claim(10).allSatisfy { $0.crashes == 0 })
            #expect(try fixture.files() == [])
        }
    }

    @Test func `jobs that have not ended when the time to drain is over are handed back`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<2)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader) { $0.drainTimeout = .milliseconds(20) }
            await downloader.waitForStarts(2)
            worker.stop()
            #expect(await worker.end.end == .handedBack)
            #expect(try await fixture.queue.counts() == QueueCounts(ready: 2, enqueued: 2))
        }
    }

    @Test func `two stops at once, before a single fetch has begun, hold nothing up`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<50)
            let worker = try await fixture.start(ScriptedDownloader { _ in .held })
            worker.stop()
            worker.stop()
            let end = await worker.end.end
            #expect(end == .handedBack || end == .drained)
            #expect(try await fixture.queue.counts() == QueueCounts(ready: 50, enqueued: 50))
        }
    }

    @Test func `a worker whose task is cancelled hands back`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<2)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader)
            await downloader.waitForStarts(2)
            worker.cancel()
            #expect(await worker.end.end == .handedBack)
            #expect(try await fixture.queue.counts() == QueueCounts(ready: 2, enqueued: 2))
        }
    }

    @Test(arguments: [(stops: 2, handBackTimeout: Duration.milliseconds(50)), (stops: 3, handBackTimeout: .seconds(3600))])
    func `a worker that is stopped while Redis is away ends: after two stops in the time for handing back, after three at once`(
        stops: Int, handBackTimeout: Duration
    ) async throws {
        let server = try await RedisServer.start()
        try await WorkerFixture.with(server) { fixture in
            try await fixture.fill(0..<2)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader) { $0.handBackTimeout = handBackTimeout }
            await downloader.waitForStarts(2)
            try await server.stop()
            for _ in 0..<stops { worker.stop() }
            #expect(await worker.end.end == .handedBack)
        }
    }
}
