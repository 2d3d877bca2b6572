import Foundation
import GannetHTTP
import GannetRedisClient
import GannetTestKit
import Testing

@testable import Crawl
@testable import GannetQueue

@Suite(.timeLimit(.minutes(3))) struct WorkerTests {
    @Test func `everything is fetched, placed and counted, and then it ends`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<30)
            let downloader = ScriptedDownloader { .body($0) }
            let worker = try await fixture.start(downloader)
            #expect(await worker.end.end == .empty)
            #expect(worker.count(where: \.isFetched) == 30)
            let files = try fixture.files()
            #expect(files.count == 30)
            for file in files {
                let body = try String(contentsOfFile: fixture.folder.file(file), encoding: .utf8)
                #expect(file.hasSuffix("-" + body.dropFirst("http://h/".count)))
            }
            let bytes = (0..<30).reduce(0) { $0 + WorkerFixture.url($1).utf8.count }
            #expect(try await fixture.queue.counts() == QueueCounts(enqueued: 30, fetched: 30, bytes: bytes))
        }
    }

    @Test func `a URL that fails is counted and reported, and does not hinder the others`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<10)
            let downloader = ScriptedDownloader { $0.hasSuffix("3") ? .failure(.status(404)) : .body("x") }
            let worker = try await fixture.start(downloader)
            #expect(await worker.end.end == .empty)
            #expect(try await fixture.queue.counts() == QueueCounts(enqueued: 10, fetched: 9, failed: 1, bytes: 9))
            #expect(worker.count(where: \.isFailed) == 1)
        }
    }

    @Test func `as many downloads run at once as are permitted, and no more jobs are claimed than run`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<20)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader) { $0.concurrency = 4 }
            await downloader.waitForStarts(4)
            let counts = try await fixture.queue.counts()
            #expect(counts.active == 4 && counts.ready == 16)
            downloader.open()
            #expect(await worker.end.end == .empty)
            #expect(downloader.most == 4)
            #expect(Set(downloader.urls).count == 20 && downloader.urls.count == 20)
        }
    }

    @Test func `two workers share a queue and fetch each URL once`() async throws {
        try await WorkerFixture.with { fixture in
            let downloaders = [ScriptedDownloader { _ in .held }, ScriptedDownloader { _ in .held }]
            var workers: [RunningWorker] = []
            try await fixture.fill(0..<100)
            for downloader in downloaders { workers.append(try await fixture.start(downloader) { $0.concurrency = 5 }) }
            for downloader in downloaders { await downloader.waitForStarts(5) }
            for downloader in downloaders { downloader.open() }
            for worker in workers { #expect(await worker.end.end == .empty) }
            let urls = downloaders.flatMap(\.urls)
            #expect(urls.count == 100 && Set(urls).count == 100)
            #expect(try await fixture.queue.counts().done == 100)
        }
    }

    @Test func `a worker that ends with the queue waits for the jobs of other workers, and hears of their end`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<1)
            let job = try #require(try await fixture.claim(1).first)
            let worker = try await fixture.start(ScriptedDownloader { .body($0) })
            try await fixture.fill(1..<2, batch: "c")
            await worker.wait(for: \.isFetched)
            #expect(try await fixture.settle(job) == .settled)
            #expect(await worker.end.end == .empty)
        }
    }

    @Test func `an idle worker hears of new jobs without looking`() async throws {
        try await WorkerFixture.with { fixture in
            let downloader = ScriptedDownloader { .body($0) }
            let worker = try await fixture.start(downloader) { $0.endsWhenEmpty = false }
            for number in 0..<5 {
                try await fixture.fill(number..<(number + 1), batch: "b\(number)")
                await downloader.waitForStarts(1)
                await worker.wait(for: \.isFetched)
            }
            worker.stop()
            #expect(await worker.end.end == .drained)
        }
    }

    @Test func `an idle worker leaves Redis in peace`() async throws {
        let server = try await RedisServer.start()
        try await WorkerFixture.with(server) { fixture in
            let downloader = ScriptedDownloader { .body($0) }
            let worker = try await fixture.start(downloader) {
                $0.endsWhenEmpty = false
                $0.idleLook = WorkerOptions().idleLook
            }
            try await fixture.fill(0..<1)
            await worker.wait(for: \.isFetched)
            func evaluations() async throws -> Int {
                let text = try await server.command("INFO", "commandstats").text ?? ""
                return text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("cmdstat_eval") }.reduce(0) { sum, line in
                    sum + (Int(line.split(separator: "calls=").last?.prefix { $0.isNumber } ?? "") ?? 0)
                }
            }
            let before = try await evaluations()
            // A second passes in Redis.
            _ = try await server.command("BLPOP", "nothing", "1")
            #expect(try await evaluations() - before <= 2)
            worker.stop()
            #expect(await worker.end.end == .drained)
        }
        try await server.stop()
    }
}
