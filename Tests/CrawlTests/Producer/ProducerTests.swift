import GannetRedisClient
import GannetTestKit
import Lists
import Testing

@testable import Crawl
@testable import GannetQueue

@Suite struct ProducerTests {
    private func feed(_ fixture: WorkerFixture, _ lines: [String], batch: String = "b") async throws -> EnqueueSummary {
        var producer = try await Producer(fixture.queue, batch: batch, from: "a list")
        for (index, line) in lines.enumerated() { try await producer.add(Row(.line(index + 1), url: line)) }
        try await producer.finish()
        return producer.summary
    }

    @Test func `a row without a URL is named, and the other rows are accepted`() async throws {
        try await WorkerFixture.with { fixture in
            let summary = try await feed(fixture, ["http://h/1", "no url", "ftp://h/", "http://h/1", "http://H:80/1#x", "http://h/2"])
            #expect(summary.accepted == 4 && summary.invalid == 2)
            #expect(summary.complaints.map { "\($0.place)" } == ["line 2", "line 3"])
            #expect(try await fixture.claim(9).map(\.url) == ["http://h/1", "http://h/2"])
            // The repeated URLs wait for the first job with this URL.
            #expect(try await fixture.queue.counts().parked == 2)
        }
    }

    @Test func `the number of complaints about a file that is not a list is bounded`() async throws {
        try await WorkerFixture.with { fixture in
            let summary = try await feed(fixture, Array(repeating: "<html>", count: 5000))
            #expect(summary.invalid == 5000 && summary.complaints.count == 20 && summary.accepted == 0)
        }
    }

    @Test(arguments: [0, 1, 1000, 2500])
    func `a producer that was stopped anywhere goes on where it stopped`(stopped: Int) async throws {
        try await WorkerFixture.with { fixture in
            let lines = (0..<2500).map { $0.isMultiple(of: 7) ? "not one" : "http://h/\($0)" }
            let valid = lines.count { $0 != "not one" }
            var producer = try await Producer(fixture.queue, batch: "b", from: "a list")
            for (index, line) in lines.prefix(stopped).enumerated() {
                try await producer.add(Row(.line(index + 1), url: line))
            }
            // Some of the input is fetched meanwhile, and must not be added again.
            for job in try await fixture.claim(100) { _ = try await fixture.settle(job) }
            // A producer that dies leaves a part of its chunk behind.
            let summary = try await feed(fixture, lines)
            #expect(summary.accepted == valid && summary.invalid == lines.count - valid)
            #expect(try await fixture.queue.counts().enqueued == valid)
        }
    }

    @Test func `a partition that has lost its rows gets them again from a second producer, and the others get none`() async throws {
        try await WorkerFixture.with(partitions: 3) { fixture in
            let rows = (0..<60).map { "http://h\($0 % 12).example/\($0)" }
            for _ in 0..<2 {
                var producer = try await Producer(fixture.queue, batch: "b", from: "a list")
                for (index, row) in rows.enumerated() { try await producer.add(Row(.line(index + 1), url: row)) }
                try await producer.finish()
                #expect(try await fixture.queue.counts().enqueued == 60)
                #expect(producer.summary.accepted == 60)
                // As after a failover to a replica that had nothing of the partition yet.
                let keys = try await fixture.redis.send(RedisCommand("KEYS", .string("{\(fixture.namespace):1}*"))).asArray()
                #expect(!keys.isEmpty)
                for key in keys { try await fixture.redis.send(RedisCommand("DEL", .bytes(try key.asBytes()))) }
                #expect(try await fixture.queue.counts().enqueued < 60)
            }
        }
    }

    @Test func `a queue that is emptied under a producer is an error, not a gap`() async throws {
        try await WorkerFixture.with { fixture in
            var producer = try await Producer(fixture.queue, batch: "b", from: "a list")
            for number in 0..<1000 { try await producer.add(Row(.line(number), url: "http://h/\(number)")) }
            try await fixture.queue.clear()
            try await producer.add(Row(.line(1001), url: "http://h/last"))
            do throws(StateError) {
                try await producer.finish()
                Issue.record("it was accepted")
            } catch {
                #expect(error.reason == .unavailable && error.description.contains("Redis has lost this batch"))
            }
        }
    }

    @Test func `a job's host is kept with its port unless that is the scheme's own, and the batch is closed at the end of its input`()
        async throws
    {
        try await WorkerFixture.with { fixture in
            _ = try await feed(
                fixture, ["http://H:80/1", "https://h:8443/2", "http://[::1]:81/3", "http://user:secret@h/4", "https://h/5"])
            #expect(try await fixture.claim(9).map(\.host).sorted() == ["[::1]:81", "h", "h", "h", "h:8443"])
            #expect(try await fixture.queue.begin(batch: "b", from: "").state == .closed)
        }
    }

    @Test(arguments: [
        ("EXAMPLE.com", "example.com"), ("h:80", "h"), ("h:443", "h"), ("h:8080", "h:8080"), ("::1", "[::1]"), ("[::1]:81", "[::1]:81"),
        ("http://h/", nil), ("h/", nil), ("u@h", nil), ("", nil), ("h:x", nil),
    ])
    func `a host that people name gets the form that jobs have`(text: String, host: String?) {
        #expect(RequestedURL.host(named: text) == host)
    }

    @Test func `a row whose host is too long is refused with its line number`() async throws {
        try await WorkerFixture.with { fixture in
            let summary = try await feed(fixture, ["http://\(String(repeating: "h", count: 256))/", "http://h/"])
            #expect(summary.accepted == 1 && summary.invalid == 1)
            #expect(summary.complaints.map { "\($0.place): \($0.reason)" } == ["line 1: A host has 1 to 255 bytes; this one has 256."])
        }
    }
}
