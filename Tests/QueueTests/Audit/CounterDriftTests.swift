import GannetRedisClient
import Testing

@testable import GannetQueue

/// Drift of counters that was made by hand is found, mended, and not found again. Nobody waits for jobs that are lost.
@Suite struct CounterDriftTests {
    @Test(arguments: ["active", "parked", "delayed"], [true, false])
    func `a wrong counter is corrected`(part: String, ofBatch: Bool) async throws {
        try await QueueFixture.with { fixture in
            let batch = try await fixture.fill([1, 1, 2, 3])
            let jobs = try await fixture.claim(2).jobs
            _ = try await fixture.settle(jobs[1], QueueFixture.retried(jobs[1].url, after: .seconds(60)))
            let counts = try await fixture.queue.counts()
            #expect(counts.active == 1 && counts.parked == 1 && counts.delayed == 1 && counts.ready == 1)
            try await fixture.send("HINCRBY", fixture.queueKey(ofBatch ? "batch:\(batch)" : "queue"), .string(part), "5")
            try await fixture.expectDrift([.counter])
            #expect(try await fixture.queue.counts() == counts)
        }
    }

    @Test func `wrong counters are corrected while workers go on, and once by two audits`() async throws {
        try await QueueFixture.with { fixture in
            let batch = try await fixture.fill(0..<2000, hosts: 40)
            for part in ["active", "parked", "delayed"] {
                try await fixture.send("HINCRBY", fixture.queueKey("queue"), .string(part), "5")
                try await fixture.send("HINCRBY", fixture.queueKey("batch:\(batch)"), .string(part), "-7")
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        let found = try await fixture.cluster.audit(mend: true)
                        #expect(found.allSatisfy { $0.kind == .counter }, "\(found)")
                    }
                }
                group.addTask { try await fixture.drain() }
                try await group.waitForAll()
            }
            #expect(try await fixture.cluster.audit(mend: false).isEmpty)
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 2000 && counts.isEmpty)
        }
    }

    @Test func `accepted jobs that are in no list end as failed, so that nobody waits for them`() async throws {
        try await QueueFixture.with { fixture in
            let batch = try await fixture.fill(0..<5, hosts: 5)
            try await fixture.send("LTRIM", fixture.queueKey("ready:normal"), 0, 1)
            try await fixture.expectDrift([.jobsLost])
            for job in try await fixture.claim(5).jobs { _ = try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) }
            #expect(try await fixture.claim(5).left == .nothing)
            let counts = try await fixture.queue.batches([batch]).first
            #expect(counts?.done == 2 && counts?.failed == 3 && counts?.isComplete == true)
        }
    }

    @Test func `a batch whose jobs are all lost has ended`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<3)
            try await fixture.send("DEL", fixture.queueKey("ready:normal"))
            try await fixture.expectDrift([.jobsLost])
            #expect(try await fixture.send("HEXISTS", fixture.queueKey("batch:1"), "ended") == .integer(1))
        }
    }

    @Test func `a queue whose counters are lost is counted anew, and served`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([1, 1, 2, 3])
            _ = try await fixture.claim(2)
            try await fixture.send("DEL", fixture.queueKey("queue"))
            try await fixture.expectDrift([.counter, .jobsUncounted])
            let counts = try await fixture.queue.counts()
            #expect(counts.active == 2 && counts.parked == 1 && counts.ready == 1)
            #expect(try await fixture.claim(2).jobs.count == 1)
        }
    }
}
