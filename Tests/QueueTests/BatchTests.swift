import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// Batches are ledgers: they say which jobs were accepted, up to which row, and how the jobs ended.
@Suite struct BatchTests {
    @Test(arguments: [1, 3])
    func `a chunk is accepted once, and a producer that starts again goes on where the ledger ends`(partitions: Int) async throws {
        try await QueueFixture.with(partitions: partitions) { fixture in
            let queue = fixture.queue
            func accept(_ numbers: Range<Int>, to end: Int, _ progress: inout BatchProgress, closing: Bool = false) async throws -> Int {
                let rows = try numbers.map { (entry: try QueueFixture.entry($0, hosts: 9), row: $0 + 1) }
                return try await queue.enqueue(rows, to: end, of: &progress, closing: closing)
            }
            var progress = try await queue.begin(batch: "b", from: "a file")
            #expect(progress.number == 1 && progress.source == "a file" && progress.headers == RequestHeaders.none)
            #expect(progress.offset == 0 && progress.total == 0 && progress.state == .open)
            var late = progress
            #expect(try await accept(0..<20, to: 20, &progress) == 20)
            #expect(try await accept(0..<20, to: 20, &late) == 20)
            #expect(progress.offset == 20 && progress.total == 20 && late.offset == 20 && late.total == 20)

            var again = try await queue.begin(batch: "b", from: "another")
            #expect(again.source == "a file" && again.offset == 20 && again.total == 20 && again.state == .open)
            late = again
            #expect(try await accept(20..<30, to: 40, &again, closing: true) == 30)
            #expect(try await accept(20..<30, to: 40, &late, closing: true) == 30)
            #expect(again.state == .closed && late.total == 30)
            #expect(try await queue.begin(batch: "b").state == .closed)
            #expect(try await queue.number(ofBatch: "b") == 1)
            #expect(try await queue.number(ofBatch: "c") == nil)
            #expect(Set(try await fixture.drain()) == Set((0..<30).map(QueueFixture.id)))
            #expect(try await queue.counts().enqueued == 30)
        }
    }

    @Test func `a chunk that comes after a gap is refused, because Redis has lost the chunk before it`() async throws {
        try await QueueFixture.with { fixture in
            var progress = try await fixture.queue.begin(batch: "b")
            progress.offsets = [5]
            let row = (entry: try QueueFixture.entry(0), row: 6)
            progress.totals = [4]
            let lost = StateError.batchLost(accepted: 4)
            await #expect(throws: lost) { try await fixture.queue.enqueue([row], to: 6, of: &progress) }
            #expect(lost.reason == .unavailable)
            #expect(try await fixture.queue.counts().enqueued == 0)
        }
    }

    @Test func `a chunk of a batch that Redis has lost is no chunk of the batch that got its number`() async throws {
        try await QueueFixture.withServer { fixture, _ in
            let row = (entry: try QueueFixture.entry(0), row: 1)
            var lost = try await fixture.queue.begin(batch: "lost")
            try await fixture.redis.send(RedisCommand("FLUSHALL"))
            var new = try await fixture.queue.begin(batch: "new")
            #expect(lost.number == new.number)
            await #expect(throws: StateError.batchLost(accepted: 0)) { try await fixture.queue.enqueue([row], to: 1, of: &lost) }
            _ = try await fixture.queue.enqueue([row], to: 1, of: &new)
            await #expect(throws: StateError.batchLost(accepted: 0)) {
                try await fixture.queue.confirmReplicas(of: lost, within: .seconds(30))
            }
            #expect(try await fixture.queue.counts().enqueued == 1)
        }
    }

    @Test func `a batch is complete when it is closed and all its jobs have ended, and lists them in that order`() async throws {
        try await QueueFixture.with { fixture in
            let queue = fixture.queue
            let number = try await fixture.accept((0..<4).map { try QueueFixture.entry($0) }, closing: false)
            let jobs = try await fixture.claim(4).jobs
            #expect(try await queue.batches([number]).first?.active == 4)
            for index in [2, 0, 3] { _ = try await fixture.settle(jobs[index], QueueFixture.fetched(jobs[index].entry.url)) }
            _ = try await fixture.settle(jobs[1], QueueFixture.failed("u"))
            let open = try #require(try await queue.batches([number]).first)
            #expect(open.done == 3 && open.failed == 1 && !open.isComplete)
            try await fixture.accept([])
            #expect(try await queue.batches([number]).first?.isComplete == true)
            func finished(_ first: Int, _ last: Int) async throws -> [URLID] {
                try await queue.finished(ofBatch: number, in: fixture.cluster.home, from: first, through: last).map(\.id)
            }
            #expect(try await queue.finishedCounts(ofBatch: number) == [4])
            #expect(try await finished(0, 3) == [2, 0, 3, 1].map(QueueFixture.id))
            #expect(try await finished(1, 2) == [0, 3].map(QueueFixture.id))
        }
    }

    @Test func `some thousand ended batches are remembered, and the oldest beyond them dropped`() async throws {
        try await QueueFixture.with { fixture in
            let open = try await fixture.queue.begin(batch: "open").number
            for index in 0..<1200 { try await fixture.fill([], batch: "\(index)") }
            let (latest, total) = try await fixture.queue.batches(limit: 1002)
            #expect(total == 1001, "\(total)")
            #expect(latest.map(\.name) == (200..<1200).reversed().map { "\($0)" } + ["open"])
            #expect(latest.last?.state == .open)
            let left = try await fixture.dump().values.keys.filter { $0.hasPrefix("q:q:batch:") }
            #expect(left.count == 1001 && left.contains("q:q:batch:\(open)"))
        }
    }

    @Test func `ended batches that list fifty million URLs are remembered, and the oldest beyond them dropped`() async throws {
        try await QueueFixture.with { fixture in
            for index in 0..<4 {
                try await fixture.fill(index * 3..<index * 3 + 3, batch: "\(index)")
                try await fixture.drain()
            }
            // As if the last batch listed so many.
            try await fixture.send("HINCRBY", fixture.queueKey("queue"), "keptIds", "49999994")
            _ = try await fixture.queue.begin(batch: "next")
            #expect(try await fixture.queue.batches(limit: 9).batches.map(\.name) == ["next", "3", "2"])
        }
    }

    @Test func `an ended batch is forgotten after a month`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<3, batch: "ended")
            try await fixture.drain()
            try await fixture.accept([try QueueFixture.entry(9)], batch: "running")
            clock.advance(by: .seconds(29 * 86_400))
            _ = try await fixture.queue.begin(batch: "later")
            #expect(try await fixture.queue.number(ofBatch: "ended") != nil)
            clock.advance(by: .seconds(2 * 86_400))
            _ = try await fixture.queue.begin(batch: "latest")
            #expect(try await fixture.queue.batches(limit: 9).batches.map(\.name) == ["latest", "later", "running"])
            #expect(try await fixture.dump().values["q:q:finished:1"] == nil)
        }
    }

    @Test func `a batch whose producer died ends a week after its last chunk, and not while its jobs wait`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.accept([try QueueFixture.entry(0)], batch: "left", closing: false)
            try await fixture.accept([try QueueFixture.entry(1, hosts: 2)], batch: "waiting", closing: false)
            let jobs = try await fixture.claim(2).jobs
            _ = try await fixture.settle(jobs[0], QueueFixture.fetched("u"))
            func states(_ next: String) async throws -> [Batch.State?] {
                _ = try await fixture.queue.begin(batch: next)
                return [try await fixture.queue.batch(named: "left")?.state, try await fixture.queue.batch(named: "waiting")?.state]
            }
            clock.advance(by: .seconds(6 * 86_400))
            #expect(try await states("one") == [.open, .open])
            clock.advance(by: .seconds(2 * 86_400))
            #expect(try await states("two") == [.complete, .open])
            var progress = try await fixture.queue.begin(batch: "left")
            await #expect(throws: StateError.batchClosed) {
                try await fixture.queue.enqueue([(entry: try QueueFixture.entry(5), row: 2)], to: 2, of: &progress)
            }
        }
    }

    @Test func `waiting jobs of a cancelled batch count as ended at once, and jobs in flight are finished`() async throws {
        try await QueueFixture.with { fixture in
            let number = try await fixture.fill([0, 1, 2, 3, 0], hosts: 2)
            try await fixture.fill(10..<12, batch: "other")
            let jobs = try await fixture.claim(3).jobs
            #expect(Set(jobs.map(\.id)) == Set([0, 2, 1].map(QueueFixture.id)))
            #expect(try await fixture.claim(1, hostLimit: 1).jobs.isEmpty)
            #expect(try await fixture.settle(jobs[1], QueueFixture.retried("u", after: .seconds(60))) == .settled)
            #expect(try await fixture.queue.cancel(batch: number) == 3)
            #expect(try await fixture.queue.cancel(batch: number) == 0)
            var counts = try await fixture.queue.counts()
            #expect(counts.cancelled == 3 && counts.parked == 0 && counts.delayed == 0 && counts.active == 2)
            #expect(try await fixture.settle(jobs[0], QueueFixture.fetched("u")) == .settled)
            #expect(try await fixture.settle(jobs[2], QueueFixture.retried("u", after: .seconds(1))) == .settled)
            let fetched = try await fixture.drain()
            #expect(Set(fetched) == Set([10, 11].map(QueueFixture.id)))
            counts = try await fixture.queue.counts()
            #expect(counts.cancelled == 4 && counts.done == 3 && counts.isEmpty)
            #expect(try await fixture.queue.batches([number]).first?.isComplete == true)
        }
    }
}
