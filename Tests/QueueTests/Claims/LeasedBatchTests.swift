import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// A job is handed out with the facts of its batch that its worker needs.
@Suite struct LeasedBatchTests {
    private static func trace(_ number: UInt64) throws -> TraceContext {
        try TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").child(number)
    }

    private static func options(_ trace: TraceContext?, headers: RequestHeaders = .none) -> BatchOptions {
        var options = BatchOptions()
        options.trace = trace
        options.headers = headers
        return options
    }

    @Test func `each job has the name and the trace of its own batch, also when the answer was lost`() async throws {
        try await QueueFixture.with { fixture in
            let (one, two) = (try Self.trace(1), try Self.trace(2))
            let headers = try RequestHeaders([.init(name: "X-Key", value: "1")])
            try await fixture.fill(0..<3, batch: "one", options: Self.options(one))
            try await fixture.fill(3..<6, batch: "plain ü")
            try await fixture.fill(6..<9, batch: "two", options: Self.options(two, headers: headers))
            var request = ExchangeRequest(Incarnation(7), number: 1, lease: QueueFixture.lease)
            request.wanted = 10
            request.host = HostRule(limit: 1000, first: 1000)
            for _ in 0..<2 {
                let jobs = try #require(try await fixture.queue.exchange(request, in: fixture.cluster.home)).jobs
                #expect(
                    jobs.map(\.batchName) == Array(repeating: "one", count: 3) + Array(repeating: "plain ü", count: 3) + [
                        "two", "two", "two",
                    ])
                #expect(jobs.map(\.trace) == [one, one, one, nil, nil, nil, two, two, two])
                #expect(jobs.map(\.headers) == Array(repeating: RequestHeaders.none, count: 6) + [headers, headers, headers])
            }
        }
    }

    @Test func `a job that is only to be delivered has the name and the trace of its batch`() async throws {
        try await QueueFixture.with { fixture in
            let trace = try Self.trace(1)
            try await fixture.fill([0], batch: "first")
            _ = try await fixture.settle(try await fixture.claim(1).jobs[0], QueueFixture.fetched("http://h0/0"))
            try await fixture.fill([0], batch: "second", options: Self.options(trace))
            let job = try await fixture.claim(1).jobs[0]
            #expect(job.outcome != nil && job.batchName == "second" && job.trace == trace)
        }
    }

    @Test func `a job whose batch's record is gone is still handed out, without name and trace`() async throws {
        try await QueueFixture.with { fixture in
            let number = try await fixture.fill([0], options: Self.options(try Self.trace(1)))
            var request = ExchangeRequest(Incarnation(7), number: 1, lease: QueueFixture.lease)
            request.wanted = 1
            request.host = HostRule(limit: 1000, first: 1000)
            let first = try #require(try await fixture.queue.exchange(request, in: fixture.cluster.home)).jobs
            try await fixture.redis.send(RedisCommand("DEL", .string(fixture.key(queue: "batch:\(number)"))))
            let again = try #require(try await fixture.queue.exchange(request, in: fixture.cluster.home)).jobs
            #expect(again.map(\.token) == first.map(\.token) && again.map(\.entry) == first.map(\.entry))
            #expect(again.allSatisfy { $0.batchName == nil && $0.trace == nil && $0.headers == RequestHeaders.none })
        }
    }

    @Test func `a trace that cannot be read is ignored`() async throws {
        try await QueueFixture.with { fixture in
            let number = try await fixture.fill([0], batch: "b")
            let batch = RedisArgument.string(fixture.key(queue: "batch:\(number)"))
            try await fixture.redis.send(RedisCommand("HSET", batch, "trace", "of a version to come"))
            let job = try await fixture.claim(1).jobs[0]
            #expect(job.trace == nil && job.batchName == "b")
        }
    }

    @Test func `a batch keeps the trace that it was first begun with, and the trace changes nothing else`() async throws {
        try await QueueFixture.with { fixture in
            let (one, two) = (try Self.trace(1), try Self.trace(2))
            let number = try await fixture.queue.begin(batch: "b", options: Self.options(one)).number
            _ = try await fixture.queue.begin(batch: "b", options: Self.options(two))
            #expect(try await fixture.queue.begin(batch: "b").number == number)
            let plain = try await fixture.queue.begin(batch: "c").number
            #expect(try await fixture.queue.batches([number, plain]).map(\.options.trace) == [one, nil])
        }
    }
}
