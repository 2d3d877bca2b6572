import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

/// Batches are ledgers: they say which jobs were accepted, up to which row, and how the jobs ended.
@Suite struct BatchTests {
    @Test func `a chunk is accepted once, and a producer that starts again goes on where the ledger ends`() async throws {
        try await QueueFixture.with { fixture in
            let queue = fixture.queue
            let first = try await queue.begin(batch: "b", from: "a file")
            #expect(first == BatchProgress(number: 1, source: "a file", offset: 0, total: 0, state: .open, headers: RequestHeaders.none))
            func accept(_ numbers: Range<Int>, _ from: Int, _ to: Int, closing: Bool = false) async throws -> EnqueueAnswer {
                try await queue.enqueue(numbers.map { try QueueFixture.entry($0) }, batch: 1, from: from, to: to, closing: closing)
            }
            #expect(try await accept(0..<3, 0, 30) == EnqueueAnswer(offset: 30, total: 3, open: 3))
            #expect(try await accept(0..<3, 0, 30) == EnqueueAnswer(offset: 30, total: 3, open: 3))
            // A chunk that would leave a gap is not accepted either. The answer says where to go on.
            #expect(try await accept(5..<6, 50, 60) == EnqueueAnswer(offset: 30, total: 3, open: 3))
            #expect(
                try await queue.begin(batch: "b", from: "another")
                    == BatchProgress(number: 1, source: "a file", offset: 30, total: 3, state: .open, headers: RequestHeaders.none))
            #expect(try await accept(3..<5, 30, 50, closing: true) == EnqueueAnswer(offset: 50, total: 5, open: 5))
            #expect(try await accept(3..<5, 30, 50, closing: true) == EnqueueAnswer(offset: 50, total: 5, open: 5))
            #expect(try await queue.begin(batch: "b").state == .closed)
            #expect(try await queue.number(ofBatch: "b") == 1)
            #expect(try await queue.number(ofBatch: "c") == nil)
            #expect(try await fixture.drain() == (0..<5).map(QueueFixture.id))
        }
    }

    @Test func `a batch is complete when it is closed and all its jobs have ended, and lists them in that order`() async throws {
        try await QueueFixture.with { fixture in
            let queue = fixture.queue
            let number = try await queue.begin(batch: "b").number
            _ = try await queue.enqueue((0..<4).map { try QueueFixture.entry($0) }, batch: number, from: 0, to: 4)
            let jobs = try await fixture.claim(4).jobs
            #expect(try await queue.batches([number]).first?.active == 4)
            for index in [2, 0, 3] { _ = try await fixture.settle(jobs[index], QueueFixture.fetched(jobs[index].entry.url)) }
            _ = try await fixture.settle(jobs[1], QueueFixture.failed("u"))
            let open = try #require(try await queue.batches([number]).first)
            #expect(open.done == 3 && open.failed == 1 && !open.isComplete)
            let ended = RedisArgument.string(fixture.key(queue: "ended"))
            #expect(try await fixture.redis.send(RedisCommand("ZCARD", ended)).asInteger() == 0)
            _ = try await queue.enqueue([], batch: number, from: 4, to: 4, closing: true)
            #expect(try await queue.batches([number]).first?.isComplete == true)
            #expect(try await fixture.dump().values["q:q:ended"]?.map { $0.split(separator: "=")[0] } == ["\(number)"])
            #expect(try await queue.finished(ofBatch: number, from: 0, through: -1) == [2, 0, 3, 1].map(QueueFixture.id))
            #expect(try await queue.finished(ofBatch: number, from: 1, through: 2) == [0, 3].map(QueueFixture.id))
        }
    }

    @Test func `a thousand ended batches are remembered, and the oldest beyond them dropped`() async throws {
        try await QueueFixture.with { fixture in
            let open = try await fixture.queue.begin(batch: "open").number
            for index in 0..<1010 { try await fixture.fill([], batch: "\(index)") }
            #expect(try await fixture.redis.send(RedisCommand("ZCARD", .string(fixture.key(queue: "ended")))).asInteger() == 1000)
            #expect(try await fixture.redis.send(RedisCommand("HLEN", .string(fixture.key(queue: "batches")))).asInteger() == 1001)
            #expect(try await fixture.queue.number(ofBatch: "1009") != nil)
            #expect(try await fixture.queue.batches([open]).first?.state == .open)
            let dropped = (open + 1..<open + 1011).map { fixture.key(queue: "batch:\($0)") }
            let left = try await fixture.redis.send(RedisCommand([.string("EXISTS")] + dropped.map { .string($0) })).asInteger()
            #expect(left == 1000)
        }
    }

    @Test func `waiting jobs of a cancelled batch count as ended at once, and jobs in flight are finished`() async throws {
        try await QueueFixture.with { fixture in
            let number = try await fixture.fill([0, 1, 2, 3, 0], hosts: 2)
            try await fixture.fill(10..<12, batch: "other")
            let jobs = try await fixture.claim(3).jobs
            _ = try await fixture.claim(1, hostLimit: 1)
            #expect(try await fixture.settle(jobs[1], .retry(after: .seconds(60))) == .settled)
            #expect(try await fixture.queue.cancel(batch: number) == 3)
            #expect(try await fixture.queue.cancel(batch: number) == 0)
            var counts = try await fixture.queue.counts()
            #expect(counts.cancelled == 3 && counts.parked == 0 && counts.delayed == 0 && counts.active == 2)
            #expect(try await fixture.settle(jobs[0], QueueFixture.fetched("u")) == .settled)
            #expect(try await fixture.settle(jobs[2], .retry(after: .seconds(1))) == .settled)
            let fetched = try await fixture.drain()
            #expect(Set(fetched) == Set([10, 11].map(QueueFixture.id)))
            counts = try await fixture.queue.counts()
            #expect(counts.cancelled == 4 && counts.done == 3 && counts.isEmpty)
            #expect(try await fixture.queue.batches([number]).first?.isComplete == true)
        }
    }

    @Test func `a batch that wants its bodies has jobs with a known outcome handed out, without a place at the host`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<2)
            try await fixture.drain()
            var options = BatchOptions()
            options.deliversBodies = true
            try await fixture.fill(0..<2, batch: "c", options: options)
            let jobs = try await fixture.claim(2, hostLimit: 1).jobs
            #expect(jobs.count == 2 && jobs.allSatisfy { $0.outcome?.content.url == $0.entry.url })
            #expect(try await fixture.running() == [:])
            #expect(try await fixture.settle(jobs[0], .delivered) == .settled)
            // The body of the other job is gone, so that job is fetched.
            #expect(try await fixture.settle(jobs[1], .bodyMissing(digest: [UInt8](repeating: 7, count: 32))) == .settled)
            let again = try await fixture.claim(2).jobs
            #expect(again.map(\.entry.id) == [QueueFixture.id(1)] && again[0].outcome == nil)
            #expect(try await fixture.settle(again[0], QueueFixture.fetched("u")) == .settled)
            #expect(try await fixture.queue.counts().cached == 1)
            try await fixture.expectEnded()
        }
    }

    @Test func `a job whose outcome is too old is handed out with that outcome, also when the claim is repeated`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            try await fixture.fill(0..<3)
            let old = try await fixture.claim(3).jobs
            #expect(old.allSatisfy { $0.stale == nil })
            #expect(try await fixture.settle(old[0], QueueFixture.fetched(old[0].entry.url)) == .settled)
            #expect(try await fixture.settle(old[1], QueueFixture.fetched(old[1].entry.url, isStored: false)) == .settled)
            #expect(try await fixture.settle(old[2], QueueFixture.failed(old[2].entry.url)) == .settled)
            clock.advance(by: .seconds(1))
            var options = BatchOptions()
            options.refresh = true
            try await fixture.fill(0..<3, batch: "c", options: options)
            let nonce = Nonce(.random(in: .min ... .max))
            for _ in 0..<2 {
                let jobs = try await fixture.claim(3) { $0.nonce = nonce }.jobs
                #expect(jobs.map(\.stale?.content.url) == [old[0].entry.url, nil, nil] && jobs.allSatisfy { $0.outcome == nil })
            }
        }
    }

    @Test(arguments: [false, true])
    func `a job that could not be delivered is tried again`(isThrottled: Bool) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<1)
            try await fixture.drain()
            var options = BatchOptions()
            options.deliversBodies = true
            try await fixture.fill(0..<1, batch: "c", options: options)
            let job = try #require(try await fixture.claim(1).jobs.first)
            let outcome = isThrottled ? Settlement.Outcome.throttled(for: nil) : .retry(after: .zero)
            #expect(try await fixture.settle(job, outcome) == .settled)
            try await fixture.expectSound()
            let again = try #require(try await fixture.claim(1).jobs.first)
            #expect(again.outcome != nil && again.failures == (isThrottled ? 0 : 1))
            #expect(try await fixture.settle(again, .delivered) == .settled)
            try await fixture.expectEnded()
        }
    }

    @Test func `a job that ends after its queue was cleared counts for nothing`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([0, 1, 2, 3, 0], hosts: 2)
            let jobs = try await fixture.claim(4).jobs
            _ = try await fixture.claim(1)
            try await fixture.queue.clear()
            let outcomes: [Settlement.Outcome] = [
                QueueFixture.fetched("u"), QueueFixture.failed("u"), .retry(after: .seconds(1)), .handedBack,
            ]
            for (job, outcome) in zip(jobs, outcomes) { #expect(try await fixture.settle(job, outcome) == .settled) }
            #expect(try await fixture.claim(5).jobs.isEmpty)
            #expect(try await fixture.queue.counts() == QueueCounts())
            #expect(try await fixture.running() == [:])
            try await fixture.fill(10..<12, batch: "b")
            #expect(try await fixture.drain().count == 2)
        }
    }
}
