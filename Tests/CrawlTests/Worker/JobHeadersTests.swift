import GannetHTTP
import GannetRedis
import GannetRedisClient
import GannetTestKit
import Lists
import Testing

@testable import Crawl
@testable import GannetQueue

/// Jobs that were enqueued with request headers of their own.
@Suite(.timeLimit(.minutes(3))) struct JobHeadersTests {
    private static let url = "http://h/a"

    private func enqueue(
        _ fixture: WorkerFixture, _ batch: String, _ lines: [String], urls: [String] = [url]
    ) async throws {
        var options = BatchOptions()
        options.headers = try RequestHeaders(lines.map { try HeaderField(line: $0) })
        var producer = try await Producer(fixture.queue, batch: batch, from: "", options: options)
        for url in urls { try await producer.add(Row(.line(1), url: url)) }
        try await producer.finish()
    }

    private func sent(_ downloader: ScriptedDownloader) -> [[String]] {
        downloader.requests.map { $0.headers.map { "\($0.name): \($0.value)" } }
    }

    /// Waits for the next millisecond of the queue's clock. An outcome may also go to a job that is enqueued in the same millisecond.
    private func wait(_ fixture: WorkerFixture) async throws {
        try await fixture.redis.send(RedisCommand("BLPOP", "nothing", "0.01"))
    }

    @Test func `the same URL with other headers is fetched and kept by itself`() async throws {
        try await WorkerFixture.with { fixture in
            let variants = [["Accept: a"], ["Accept: b"], [], ["Accept: a", "X-Key: k"]]
            for (number, lines) in variants.enumerated() { try await enqueue(fixture, "\(number)", lines) }
            let downloader = ScriptedDownloader { .answer($0, [("cache-control", "public, max-age=3600")]) }
            var worker = try await fixture.start(downloader)
            #expect(await worker.end.end == .empty)
            #expect(Set(sent(downloader)) == Set(variants))
            #expect(try fixture.files().count == 4)
            try await wait(fixture)

            // Each job has an outcome of its own. The next job with the same headers finds it, however the headers are written.
            try await enqueue(fixture, "again", ["accept:   b\t"])
            try await enqueue(fixture, "in another order", ["x-key: k", "ACCEPT: a"])
            worker = try await fixture.start(downloader)
            #expect(await worker.end.end == .empty)
            #expect(downloader.requests.count == 4 && worker.count(where: \.isCached) == 2)
        }
    }

    @Test func `failures of one URL with and without headers are independent`() async throws {
        try await WorkerFixture.with { fixture in
            try await enqueue(fixture, "with", ["Accept: a"])
            let downloader = ScriptedDownloader { _ in .failure(.status(404)) }
            #expect(await (try await fixture.start(downloader)).end.end == .empty)
            try await wait(fixture)
            try await enqueue(fixture, "without", [])
            #expect(await (try await fixture.start(downloader)).end.end == .empty)
            try await wait(fixture)
            try await enqueue(fixture, "with, once more", ["Accept: a"])
            #expect(await (try await fixture.start(downloader)).end.end == .empty)
            #expect(sent(downloader) == [["Accept: a"], []])
        }
    }

    @Test func `every attempt carries the job's headers`() async throws {
        try await WorkerFixture.with { fixture in
            try await enqueue(fixture, "b", ["X-Key: k"], urls: [Self.url, "http://h/b"])
            let downloader = ScriptedDownloader { _ in .failure(.status(500)) }
            #expect(await (try await fixture.start(downloader) { $0.retryPolicy.retries = 2 }).end.end == .empty)
            #expect(sent(downloader) == [[String]](repeating: ["X-Key: k"], count: 6))
        }
    }

    @Test func `a revalidation carries the job's headers`() async throws {
        try await WorkerFixture.with { fixture in
            let downloader = ScriptedDownloader { .answer($0, [("cache-control", "max-age=0"), ("etag", "\"1\"")]) }
            for number in 0..<2 {
                try await enqueue(fixture, "\(number)", ["Accept: a"])
                let worker = try await fixture.start(downloader)
                #expect(await worker.end.end == .empty)
                #expect(worker.count(where: \.isRevalidated) == number)
                try await wait(fixture)
            }
            #expect(sent(downloader) == [["Accept: a"], ["Accept: a", "If-None-Match: \"1\""]])
        }
    }

    @Test func `an answer to credentials goes to no later job, even with the same credentials`() async throws {
        try await WorkerFixture.with { fixture in
            let downloader = ScriptedDownloader { .answer($0, [("cache-control", "max-age=3600")]) }
            for number in 0..<2 {
                try await enqueue(fixture, "\(number)", ["Authorization: Bearer t"])
                #expect(await (try await fixture.start(downloader)).end.end == .empty)
                try await wait(fixture)
            }
            #expect(downloader.requests.count == 2)
        }
    }

    @Test func `a job whose headers are lost fails, and is not fetched without them`() async throws {
        try await WorkerFixture.with { fixture in
            try await enqueue(fixture, "b", ["X-Key: s3cret"])
            let number = try #require(try await fixture.queue.batch(named: "b")).number
            let key = RedisArgument.string("{\(fixture.namespace)}q:q:batch:\(number)")
            try await fixture.redis.send(RedisCommand("HDEL", key, "headers"))
            let downloader = ScriptedDownloader { .body($0) }
            let worker = try await fixture.start(downloader)
            #expect(await worker.end.end == .empty)
            #expect(downloader.requests.isEmpty)
            guard case .failed(_, let sentence, let errorClass)? = worker.reports.first(where: \.isFailed) else {
                Issue.record("\(worker.reports)")
                return
            }
            #expect(errorClass == "invalid-request" && sentence.contains("the headers that it was enqueued with are not in Redis any more"))
            #expect(try await fixture.queue.counts().dead == 1)
            // No other job fails with this one.
            try await wait(fixture)
            try await enqueue(fixture, "c", ["X-Key: s3cret"])
            #expect(await (try await fixture.start(downloader)).end.end == .empty)
            #expect(sent(downloader) == [["X-Key: s3cret"]])
        }
    }

    @Test func `a batch cannot go on with other headers`() async throws {
        try await WorkerFixture.with { fixture in
            try await enqueue(fixture, "b", ["Accept: a", "X-Key: k"])
            for lines in [[], ["Accept: a"], ["Accept: a", "X-Key: l"]] {
                await #expect(throws: StateError.otherHeaders) { try await enqueue(fixture, "b", lines) }
            }
            try await enqueue(fixture, "b", ["accept: a", "x-key: k"])
        }
    }

    @Test func `a job and the library's request with the same URL and headers have one id`() async throws {
        let url = try CanonicalURL("http://H:80/a")
        let headers = try RequestHeaders([HeaderField(line: "Accept: a")])
        let field = try #require(HeaderField(name: "accept", value: "a"))
        let id = try JobEntry(row: Array("http://h/a".utf8)[...], headers: headers).id
        #expect(id.bytes == CacheKey(url, headers: [field]).id && id.bytes != url.id)
        #expect(try JobEntry(row: Array("http://h/a".utf8)[...]).id.bytes == url.id)
    }

    @Test func `only the names of headers are printed`() throws {
        let headers = try RequestHeaders(["Cookie: s3cret", "Accept: s3cret", "cookie: s3cret"].map { try HeaderField(line: $0) })
        var options = BatchOptions()
        options.headers = headers
        var dumped = ""
        dump(options, to: &dumped)
        for text in ["\(headers)", "\(options)", String(reflecting: options), dumped] { #expect(!text.contains("s3cret"), "\(text)") }
        #expect(headers.names == ["Cookie", "Accept"])
    }
}
