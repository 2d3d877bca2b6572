import GannetBase
import GannetHTTP
import GannetRedis
import GannetRedisClient
import GannetTestKit
import Testing

@testable import Crawl
@testable import GannetQueue

@Suite(.timeLimit(.minutes(3))) struct RetryTests {
    /// Fails this many times for each URL before it sends the body.
    private func downloader(failing times: Int, with kind: FetchError.Kind) -> ScriptedDownloader {
        let attempts = Attempts()
        return ScriptedDownloader { attempts.next(of: $0) <= times ? .failure(kind) : .body($0) }
    }

    private final class Attempts: Sendable {
        private let counts = Mutex<[String: Int]>([:])

        func next(of url: String) -> Int {
            counts.withLock { counts in
                counts[url, default: 0] += 1
                return counts[url] ?? 0
            }
        }
    }

    private func page(_ number: Int, _ fixture: WorkerFixture) async throws -> URLOutcome {
        try #require(try await ClusterState(fixture.redis, namespace: fixture.namespace).outcome(WorkerFixture.id(number), host: "h"))
    }

    @Test(arguments: [FetchError.Kind.status(500), .truncated, .timeout(.body)])
    func `a job whose failure may pass is charged a retry, tried again, and ends as fetched`(kind: FetchError.Kind) async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<2)
            let downloader = downloader(failing: 2, with: kind)
            let worker = try await fixture.start(downloader)
            #expect(await worker.end.end == .empty)
            #expect(downloader.urls.count == 6)
            #expect(worker.count(where: \.isPutOff) == 4 && worker.count(where: \.isFetched) == 2)
            var expected = QueueCounts(enqueued: 2, fetched: 2, bytes: 2 * WorkerFixture.url(0).utf8.count)
            expected.retried = 4
            #expect(try await fixture.queue.counts() == expected)
            let page = try await page(0, fixture)
            #expect(!page.isNegative && page.content.status == 200 && page.content.url == WorkerFixture.url(0))
            #expect(page.content.digest == SHA256Digest(of: WorkerFixture.url(0).utf8).bytes)
            #expect(page.content.fields[.file] == "000/" + String(repeating: "0", count: 32) + "-0")
        }
    }

    @Test func `a job is given up after its retries, and its outcome says why without secrets`() async throws {
        try await WorkerFixture.with { fixture in
            let url = "http://user:hunter2@h/x?token=hunter2"
            let entry = try JobEntry(id: WorkerFixture.id(0), host: "h", url: url)
            var progress = try await fixture.queue.begin(batch: "b")
            _ = try await fixture.queue.enqueue([(entry: entry, row: 1)], to: 1, of: &progress, closing: true)
            let downloader = downloader(failing: .max, with: .status(500))
            let worker = try await fixture.start(downloader) { $0.retryPolicy.retries = 2 }
            #expect(await worker.end.end == .empty)
            #expect(downloader.urls.count == 3)
            #expect(worker.count(where: \.isFailed) == 1)
            let page = try await page(0, fixture)
            #expect(page.isNegative && page.content.status == 500 && page.content.fields[.errorClass] == "http-500")
            let message = try #require(page.content.fields[.errorMessage])
            #expect(message.hasPrefix("The server answered 500 (http://h/x?token=…)"))
            #expect(!message.contains("hunter2"))
        }
    }

    @Test func `without retries the first failure is the last`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<3)
            let downloader = downloader(failing: 1, with: .status(500))
            let worker = try await fixture.start(downloader) { $0.retryPolicy.retries = 0 }
            #expect(await worker.end.end == .empty)
            #expect(downloader.urls.count == 3)
            #expect(try await fixture.queue.counts() == QueueCounts(enqueued: 3, failed: 3))
        }
    }

    @Test func `a host that asks for a pause gets it, and the job is not charged`() async throws {
        let server = try await RedisServer.start(.init { $0.movableClock = true })
        try await WorkerFixture.with(server) { fixture in
            try await fixture.fill(0..<1)
            let downloader = downloader(failing: 1, with: .status(429))
            let worker = try await fixture.start(downloader) { $0.retryPolicy.retries = 0 }
            await worker.wait(for: \.isPutOff)
            #expect(try await fixture.queue.counts().delayed == 1)
            server.clock.advance(by: .seconds(1))
            try await fixture.queue.resume()
            #expect(await worker.end.end == .empty)
            #expect(downloader.urls.count == 2)
            #expect(try await fixture.queue.counts().fetched == 1)
        }
        try await server.stop()
    }

    @Test(arguments: [(FetchError.Kind.proxy, true), (.dns(.nobodyAnswers), true), (.status(429), false)])
    func `a job that is put off for lack of a network names the missing part`(kind: FetchError.Kind, isNetwork: Bool) async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<1)
            let worker = try await fixture.start(downloader(failing: .max, with: kind)) { $0.retryPolicy.retries = 0 }
            await worker.wait(for: \.isPutOff)
            worker.stop()
            #expect(await worker.end.end == .drained)
            let errors = worker.reports.compactMap { if case .putOff(_, let error, _) = $0 { error } else { nil } }
            #expect(errors.map(\.kind) == [kind] && errors.map(\.retry.lacksNetwork) == [isNetwork])
        }
    }

    @Test(arguments: [FetchError.Kind.proxy, .dns(.nobodyAnswers)])
    func `a worker without a network slows no other worker at the same host`(kind: FetchError.Kind) async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<1)
            let broken = try await fixture.start(downloader(failing: .max, with: kind))
            await broken.wait(for: \.isPutOff)
            try await fixture.fill(1..<9, batch: "other")
            // The broken worker asks for none of them: it has no network now.
            #expect(try await fixture.claim(8).count == 8)
            broken.stop()
            #expect(await broken.end.end == .drained)
            #expect(try await fixture.queue.cluster.hostBacklogs(under: []).count == 0)
        }
    }

    @Test func `a URL whose host asks for pauses for too long is given up`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<1)
            let downloader = downloader(failing: .max, with: .status(503))
            let worker = try await fixture.start(downloader) { $0.retryPolicy.giveUpAfter = .milliseconds(1) }
            #expect(await worker.end.end == .empty)
            #expect(downloader.urls.count == 1)
            let failures = worker.reports.compactMap { report in
                if case .failed(_, let sentence, let errorClass) = report { "\(errorClass): \(sentence)" } else { nil }
            }
            #expect(failures == ["http-503: The server answered 503 (http://h/0): as scripted."])
        }
    }

    @Test func `a URL that has waited too long for a proxy is given up, and its host is not blamed`() async throws {
        let server = try await RedisServer.start(.init { $0.movableClock = true })
        try await WorkerFixture.with(server) { fixture in
            try await fixture.fill(0..<1)
            let worker = try await fixture.start(downloader(failing: .max, with: .proxy)) { $0.retryPolicy.giveUpAfter = .milliseconds(1) }
            await worker.wait(for: \.isPutOff)
            server.clock.advance(by: .seconds(10))
            // The worker would look by itself after some seconds of its own clock.
            try await fixture.queue.resume()
            #expect(await worker.end.end == .empty)
            let classes = worker.reports.compactMap { if case .failed(_, _, let errorClass) = $0 { errorClass } else { nil } }
            #expect(classes == ["proxy"])
            #expect(try await fixture.queue.counts().failed == 1)
        }
        try await server.stop()
    }

    @Test func `followers of a URL wait for its next attempt`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill([1, 1, 1])
            let downloader = downloader(failing: 1, with: .status(500))
            let worker = try await fixture.start(downloader)
            #expect(await worker.end.end == .empty)
            #expect(downloader.urls.count == 2)
            #expect(worker.count(where: \.isFetched) == 1 && worker.count(where: \.isCached) == 2)
        }
    }
}
