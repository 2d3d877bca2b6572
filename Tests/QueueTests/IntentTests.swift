import GannetRedisClient
import Testing

@testable import GannetQueue

/// Cancelling and clearing reach all partitions, also when the command that began them died half-way.
@Suite struct IntentTests {
    private func intents(_ fixture: QueueFixture) async throws -> [String] {
        let fields = try await fixture.redis.send(RedisCommand("HKEYS", .string(fixture.key(queue: "queue")))).asArray()
        return try fields.map { try $0.asString() }.filter { $0.hasPrefix("intent:") }
    }

    /// Leaves a command's intent as if the command had died after its first partition.
    private func leave(_ intent: QueueIntent, _ fixture: QueueFixture, age: Duration) async throws {
        let time = try await fixture.cluster.now() - age.wholeMilliseconds
        try await fixture.redis.send(
            RedisCommand("HSET", .string(fixture.key(queue: "queue")), .string(intent.field), .string(intent.value(at: time))))
    }

    @Test(arguments: [1, 4]) func `a batch is cancelled in all partitions, and nothing is left of the intent`(partitions: Int) async throws
    {
        try await QueueFixture.with(partitions: partitions) { fixture in
            let batch = try await fixture.fill(0..<40, hosts: 10)
            let jobs = try await fixture.claim(3).jobs
            #expect(try await fixture.queue.cancel(batch: batch) == 40 - jobs.count)
            #expect(try await fixture.queue.cancel(batch: batch) == 0)
            for job in jobs { #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled) }
            #expect(try await fixture.queue.batches([batch]).first?.state == .cancelled)
            #expect(try await intents(fixture) == [])
            await #expect(throws: StateError.unknownBatch) { try await fixture.queue.cancel(batch: 99) }
        }
    }

    @Test func `a heartbeat finishes a cancellation that died half-way, after a while`() async throws {
        try await QueueFixture.with(partitions: 4) { fixture in
            let batch = try await fixture.fill(0..<40, hosts: 10)
            try await leave(.cancel(batch: batch), fixture, age: .seconds(10))
            _ = try await fixture.queue.beat("w", .ofTest)
            #expect(try await fixture.queue.counts().cancelled == 0, "its command may still be at work")
            try await leave(.cancel(batch: batch), fixture, age: .seconds(40))
            _ = try await fixture.queue.beat("w", .ofTest)
            #expect(try await fixture.queue.counts().cancelled == 40)
            #expect(try await intents(fixture) == [])
        }
    }

    @Test(arguments: [false, true])
    func `a removal that died half-way is finished before a new batch begins, and the new batch is kept`(isPaused: Bool) async throws {
        try await QueueFixture.with(partitions: 4) { fixture in
            try await fixture.fill(0..<40, hosts: 10)
            if isPaused { try await fixture.queue.pause() }
            try await leave(.clear(keepingPause: true), fixture, age: .zero)
            try await fixture.fill(50..<60, hosts: 10, batch: "new")
            _ = try await fixture.queue.beat("w", .ofTest)
            let counts = try await fixture.queue.counts()
            #expect(counts.enqueued == 10 && counts.ready == 10 && counts.isPaused == isPaused)
            #expect(try await intents(fixture) == [])
        }
    }

    @Test(arguments: [1, 4]) func `a purged queue stays paused and is empty, and a cleared one is gone`(partitions: Int) async throws {
        try await QueueFixture.with(partitions: partitions) { fixture in
            try await fixture.fill(0..<40, hosts: 10)
            let jobs = try await fixture.claimAll(2, hostLimit: 1)
            #expect(try await fixture.settle(jobs[0], QueueFixture.retried(jobs[0].url, after: .seconds(60))) == .settled)
            try await fixture.queue.pause()
            try await fixture.queue.purge()
            let counts = try await fixture.queue.counts()
            #expect(counts.isPaused && counts.enqueued == 0 && counts.open == 0)
            #expect(try await fixture.cluster.explain(jobs[0].id, host: jobs[0].host).holder == nil)
            try await fixture.queue.clear()
            #expect(try await fixture.queue.counts() == .nothing(partitions: partitions))
            let left = try await fixture.redis.send(RedisCommand("KEYS", .string("{\(fixture.namespace)*}q:*"))).asArray()
            #expect(left.isEmpty)
        }
    }

    @Test func `with one partition no intent is written`() async throws {
        try await QueueFixture.with { fixture in
            let batch = try await fixture.fill(0..<4)
            _ = try await fixture.queue.cancel(batch: batch)
            #expect(try await intents(fixture) == [])
        }
    }
}
