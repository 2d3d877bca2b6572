import GannetHTTP
import GannetRedis
import GannetRedisClient
import GannetTestKit
import Lists
import Testing

@testable import Crawl
@testable import GannetQueue

/// Jobs of a batch that belongs to a trace.
@Suite(.timeLimit(.minutes(3))) struct JobTraceTests {
    private static let traceID = "0af7651916cd43dd8448eb211c80319c"
    private static let given = "00-\(traceID)-b7ad6b7169203331-01"

    private func enqueue(
        _ fixture: WorkerFixture, _ batch: String, trace: String?, headers: [String] = [], urls: [String] = ["http://h/a"]
    ) async throws {
        var options = BatchOptions()
        options.trace = try trace.map { try TraceContext($0) }
        options.headers = try RequestHeaders(headers.map { try HeaderField(line: $0) })
        var producer = try await Producer(fixture.queue, batch: batch, from: "", options: options)
        for url in urls { try await producer.add(Row(.line(1), url: url)) }
        try await producer.finish()
    }

    private func work(_ fixture: WorkerFixture, _ downloader: ScriptedDownloader, sends: Bool = true) async throws {
        let worker = try await fixture.start(downloader) {
            $0.sendsTrace = sends
            $0.retryPolicy.retries = 1
        }
        #expect(await worker.end.end == .empty)
    }

    private func sent(_ downloader: ScriptedDownloader) -> [String] {
        downloader.requests.map { $0.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n") }
    }

    @Test func `each request tells of the trace, under an id of its own`() async throws {
        try await WorkerFixture.with { fixture in
            try await enqueue(fixture, "b", trace: Self.given, urls: (0..<3).map { "http://h/\($0)" })
            let downloader = ScriptedDownloader { _ in .failure(.status(500)) }
            try await work(fixture, downloader)
            let fields = downloader.requests.flatMap(\.headers)
            #expect(fields.count == 6 && fields.allSatisfy { $0.name == "traceparent" })
            let contexts = try fields.map { try TraceContext($0.value) }
            #expect(contexts.allSatisfy { $0.traceID == Self.traceID && $0.text.hasSuffix("-01") })
            #expect(Set(contexts.map(\.parentID)).union(["b7ad6b7169203331"]).count == 7)
        }
    }

    @Test func `a worker that was not asked to tell of traces tells nobody, and a batch without one has nothing to tell`() async throws {
        try await WorkerFixture.with { fixture in
            let downloader = ScriptedDownloader { .body($0) }
            try await enqueue(fixture, "traced", trace: Self.given, urls: ["http://h/1"])
            try await work(fixture, downloader, sends: false)
            try await enqueue(fixture, "plain", trace: nil, urls: ["http://h/2"])
            try await work(fixture, downloader)
            #expect(sent(downloader) == ["", ""])
        }
    }

    @Test func `a header of the user's own is sent as it is`() async throws {
        try await WorkerFixture.with { fixture in
            let downloader = ScriptedDownloader { .body($0) }
            try await enqueue(fixture, "b", trace: Self.given, headers: ["Traceparent: mine", "X-Key: k"])
            try await work(fixture, downloader)
            #expect(sent(downloader) == ["Traceparent: mine\nX-Key: k"])
        }
    }

    @Test func `a URL in another trace is the same URL`() async throws {
        try await WorkerFixture.with { fixture in
            let downloader = ScriptedDownloader { .answer($0, [("cache-control", "max-age=0"), ("etag", "\"1\"")]) }
            try await enqueue(fixture, "one", trace: Self.given)
            try await work(fixture, downloader)
            // The queue's clock counts milliseconds. An outcome may also go to a job that is enqueued in the same millisecond.
            try await fixture.redis.send(RedisCommand("BLPOP", "nothing", "0.01"))
            try await enqueue(fixture, "two", trace: "00-ffffffffffffffffffffffffffffffff-b7ad6b7169203331-00")
            try await work(fixture, downloader)
            #expect(try await fixture.queue.counts().revalidated == 1)
            let last = try #require(downloader.requests.last).headers
            #expect(last.map(\.name) == ["If-None-Match", "traceparent"])
            let value = last.last?.value ?? ""
            #expect(value.hasPrefix("00-ffffffffffffffffffffffffffffffff-") && value.hasSuffix("-00"))
        }
    }

    @Test func `a batch that goes on keeps the trace that it was begun with`() async throws {
        try await WorkerFixture.with { fixture in
            let other = "00-ffffffffffffffffffffffffffffffff-b7ad6b7169203331-00"
            for trace in [Self.given, other, nil] { try await enqueue(fixture, "b", trace: trace) }
            let downloader = ScriptedDownloader { .body($0) }
            try await work(fixture, downloader)
            #expect(sent(downloader).count == 1 && sent(downloader)[0].hasPrefix("traceparent: 00-\(Self.traceID)-"))
        }
    }
}
