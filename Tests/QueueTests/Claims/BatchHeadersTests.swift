import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// Jobs of a batch with request headers are handed out with these headers, in whichever state they have been.
@Suite struct BatchHeadersTests {
    private static func headers(_ value: String) throws -> RequestHeaders {
        try RequestHeaders([.init(name: "X-Key", value: value), .init(name: "Accept", value: "a, b")])
    }

    private static func options(_ headers: RequestHeaders) -> BatchOptions {
        var options = BatchOptions()
        options.headers = headers
        return options
    }

    private func all(_ fixture: QueueFixture, _ wanted: RequestHeaders?, _ answer: ExchangeAnswer, count: Int) {
        #expect(answer.jobs.count == count)
        #expect(answer.jobs.allSatisfy { $0.headers == wanted }, "\(answer.jobs.map(\.headers))")
    }

    @Test func `each job has the headers of its own batch, and a job of a batch without headers has none`() async throws {
        try await QueueFixture.with { fixture in
            let (one, two) = (try Self.headers("1"), try Self.headers("2"))
            try await fixture.fill(0..<3, batch: "one", options: Self.options(one))
            try await fixture.fill(3..<6, batch: "none")
            try await fixture.fill(6..<9, batch: "two", options: Self.options(two))
            var request = ExchangeRequest(Incarnation(7), number: 1, lease: QueueFixture.lease)
            request.wanted = 10
            request.host = HostRule(limit: 1000, first: 1000)
            let jobs = try #require(try await fixture.queue.exchange(request, in: fixture.cluster.home)).jobs
            let wanted = [RequestHeaders](repeating: one, count: 3) + [.none, .none, .none] + [two, two, two]
            #expect(jobs.map(\.headers) == wanted)
            // The answer was lost.
            let again = try #require(try await fixture.queue.exchange(request, in: fixture.cluster.home)).jobs
            #expect(again.map(\.token) == jobs.map(\.token) && again.map(\.headers) == wanted)
        }
    }

    @Test func `a waiting entry has as many bytes as one without headers`() async throws {
        try await QueueFixture.with { fixture in
            let ready = RedisArgument.string(fixture.key(queue: "ready:normal"))
            try await fixture.fill(0..<3, batch: "none")
            let plain = try await fixture.redis.send(RedisCommand("LRANGE", ready, "0", "-1")).asArray().map { try $0.asBytes().count }
            try await fixture.redis.send(RedisCommand("DEL", ready))
            try await fixture.fill(0..<3, batch: "with", options: Self.options(try Self.headers("1")))
            let marked = try await fixture.redis.send(RedisCommand("LRANGE", ready, "0", "-1")).asArray().map { try $0.asBytes().count }
            #expect(marked == plain)
        }
    }

    @Test func `retried and delayed jobs, jobs that stood aside, and dead jobs that were put back keep their headers`() async throws {
        try await QueueFixture.with { fixture in
            let headers = try Self.headers("1")
            // Two jobs are of one host, which may have one request at a time.
            try await fixture.fill([0, 1], options: Self.options(headers))
            let first = try await fixture.claim(10, hostLimit: 1)
            all(fixture, headers, first, count: 1)
            _ = try await fixture.settle(first.jobs[0], QueueFixture.retried("u", after: .zero))
            let second = try await fixture.claim(10)
            all(fixture, headers, second, count: 2)
            for job in second.jobs {
                // Another attempt is allowed at once.
                let kept = Retention(fresh: .zero, keep: .milliseconds(1), isStored: false)
                _ = try await fixture.settle(job, .failed(OutcomeContent(url: job.url), kept))
                try await fixture.cluster.removeOutcome(job.id, host: job.host)
            }
            #expect(try await fixture.queue.retry(JobSelection(.dead)).count == 2)
            let third = try await fixture.claim(10)
            all(fixture, headers, third, count: 2)
            for job in third.jobs { _ = try await fixture.settle(job, QueueFixture.fetched(job.url)) }

            var delayed = Self.options(headers)
            delayed.delay = .seconds(3600)
            try await fixture.fill([5], batch: "delayed", options: delayed)
            #expect(try await fixture.queue.retry(JobSelection(.delayed)).count == 1)
            let last = try await fixture.claim(10)
            all(fixture, headers, last, count: 1)
            _ = try await fixture.settle(last.jobs[0], QueueFixture.fetched("http://h0/5"))
            try await fixture.expectEnded()
        }
    }

    @Test func `a follower of another batch has its own headers when its turn comes`() async throws {
        try await QueueFixture.with { fixture in
            let (one, two) = (try Self.headers("1"), try Self.headers("2"))
            try await fixture.fill([0], batch: "one", options: Self.options(one))
            let first = try await fixture.claim(1)
            try await fixture.fill([0], batch: "two", options: Self.options(two))
            all(fixture, nil, try await fixture.claim(1), count: 0)
            all(fixture, one, first, count: 1)
            _ = try await fixture.settle(first.jobs[0], .handedBack)
            // One of the two is handed out, and the other after it.
            var seen: [RequestHeaders?] = []
            try await eventually("both jobs are handed out") {
                for job in try await fixture.claim(1).jobs {
                    seen.append(job.headers)
                    _ = try await fixture.settle(
                        job, .failed(OutcomeContent(url: "u"), Retention(fresh: .zero, keep: .milliseconds(1), isStored: false)))
                    try await fixture.cluster.removeOutcome(job.id, host: job.host)
                }
                return seen.count == 2
            }
            #expect(Set(seen) == [one, two])
        }
    }

    @Test func `a dead worker's job is handed out with its headers`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            let headers = try Self.headers("1")
            try await fixture.fill([0], options: Self.options(headers))
            all(fixture, headers, try await fixture.claim(10), count: 1)
            try await fixture.endLeases(clock)
            let again = try await fixture.claim(10)
            all(fixture, headers, again, count: 1)
            #expect(again.jobs.allSatisfy { $0.crashes == 1 })
        }
    }

    @Test func `a job whose batch's headers are lost says so`() async throws {
        try await QueueFixture.with { fixture in
            let number = try await fixture.fill(0..<2, options: Self.options(try Self.headers("1")))
            let batch = RedisArgument.string(fixture.key(queue: "batch:\(number)"))
            try await fixture.redis.send(RedisCommand("HSET", batch, "headers", .bytes([2, 0, 1])))
            all(fixture, nil, try await fixture.claim(1), count: 1)
            try await fixture.redis.send(RedisCommand("HDEL", batch, "headers"))
            all(fixture, nil, try await fixture.claim(1), count: 1)
        }
    }

    @Test func `a batch tells its headers, and keeps the headers that it was first begun with`() async throws {
        try await QueueFixture.with { fixture in
            let (one, two) = (try Self.headers("1"), try Self.headers("2"))
            #expect(try await fixture.queue.begin(batch: "b", options: Self.options(one)).headers == one)
            await #expect(throws: StateError.otherHeaders) { try await fixture.queue.begin(batch: "b", options: Self.options(two)) }
            let again = try await fixture.queue.begin(batch: "b", options: Self.options(one))
            #expect(again.headers == one)
            #expect(try await fixture.queue.begin(batch: "c").headers == RequestHeaders.none)
            #expect(try await fixture.queue.batches([again.number]).map(\.options.headers) == [one])
        }
    }
}
