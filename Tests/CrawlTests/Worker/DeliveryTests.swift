import GannetHTTP
import GannetRedisClient
import GannetTestKit
import Testing

@testable import Crawl
@testable import GannetQueue

/// Jobs whose URL was fetched for another job.
@Suite(.timeLimit(.minutes(3))) struct DeliveryTests {
    @Test func `a URL that is listed twice is fetched once, and both are answered`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill([1, 2, 1, 1])
            let downloader = ScriptedDownloader { .body($0) }
            let worker = try await fixture.start(downloader)
            #expect(await worker.end.end == .empty)
            #expect(Set(downloader.urls) == [WorkerFixture.url(1), WorkerFixture.url(2)] && downloader.urls.count == 2)
            #expect(worker.count(where: \.isFetched) == 2 && worker.count(where: \.isCached) == 2)
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 4 && counts.fetched == 2 && counts.cached == 2 && counts.bytes == 2 * WorkerFixture.url(1).utf8.count)
        }
    }

    @Test func `two workers with two jobs of one URL request it once`() async throws {
        try await WorkerFixture.with { fixture in
            let downloaders = [ScriptedDownloader { _ in .held }, ScriptedDownloader { _ in .held }]
            try await fixture.fill(1..<2, batch: "a")
            let first = try await fixture.start(downloaders[0])
            await downloaders[0].waitForStarts(1)
            try await fixture.fill(1..<2, batch: "b")
            let second = try await fixture.start(downloaders[1])
            try await eventually("the second job waits for the first") { try await fixture.queue.counts().parked == 1 }
            for downloader in downloaders { downloader.open() }
            #expect(await first.end.end == .empty)
            #expect(await second.end.end == .empty)
            #expect(downloaders.flatMap(\.urls) == [WorkerFixture.url(1)])
            let counts = try await fixture.queue.counts()
            #expect(counts.fetched == 1 && counts.cached == 1)
        }
    }

    @Test(arguments: [nil, [UInt8](repeating: 7, count: 32)])
    func `a job whose URL has an outcome but no file is fetched again`(digest: [UInt8]?) async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill([1, 1])
            let jobs = try await fixture.claim(2)
            let job = try #require(jobs.first)
            #expect(jobs.count == 1)
            // Into some other folder.
            var content = OutcomeContent(url: job.url)
            content.digest = digest
            content.size = 3
            #expect(try await fixture.settle(job, with: content) == .settled)
            let downloader = ScriptedDownloader { .body($0) }
            let worker = try await fixture.start(downloader)
            #expect(await worker.end.end == .empty)
            #expect(worker.count(where: \.isBodyMissing) == 1 && worker.count(where: \.isFetched) == 1)
            #expect(downloader.urls == [WorkerFixture.url(1)])
            #expect(try fixture.files().count == 1)
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 2 && counts.fetched == 2 && counts.cached == 0)
        }
    }

    @Test func `a URL that failed fails for all jobs that wait for it, and each is reported`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill([1, 1, 1])
            let downloader = ScriptedDownloader { _ in .failure(.status(404)) }
            let worker = try await fixture.start(downloader)
            #expect(await worker.end.end == .empty)
            #expect(downloader.urls.count == 1)
            #expect(worker.count(where: \.isFailed) == 3)
            #expect(
                worker.reports.allSatisfy { if case .failed(let job, let sentence, _) = $0 { sentence.contains(job.url) } else { true } })
            #expect(try await fixture.queue.counts() == QueueCounts(enqueued: 3, failed: 3))
        }
    }

    @Test func `an answer that is stale at once is fetched again for a job that is enqueued later`() async throws {
        try await WorkerFixture.with { fixture in
            let downloader = ScriptedDownloader { .answer($0, [("cache-control", "max-age=0")]) }
            for batch in ["a", "b"] {
                try await fixture.fill(1..<2, batch: batch)
                #expect(await (try fixture.start(downloader)).end.end == .empty)
                // The queue's clock counts milliseconds. An outcome may also go to a job that is enqueued in the same millisecond.
                try await fixture.redis.send(RedisCommand("BLPOP", "nothing", "0.01"))
            }
            #expect(downloader.urls.count == 2)
        }
    }
}
