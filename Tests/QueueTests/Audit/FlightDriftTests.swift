import GannetRedisClient
import Testing

@testable import GannetQueue

/// Drift of leases, locks and followers that was made by hand is found, mended, and not found again. Jobs that it held up go on.
@Suite(.timeLimit(.minutes(3))) struct FlightDriftTests {
    @Test func `the jobs of a process without a lease come back, uncharged`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<2)
            let jobs = try await fixture.claim(2).jobs
            try await fixture.send("ZREM", "leases", .bytes(jobs[0].token.incarnation.bytes))
            try await fixture.expectDrift([.leaseWithoutExpiry], also: [.lockWithoutFlight, .hostCount])
            let again = try await fixture.claim(3, worker: "other").jobs
            #expect(Set(again.map(\.id)) == Set(jobs.map(\.id)) && again.allSatisfy { $0.crashes == 0 })
        }
    }

    @Test(arguments: [false, true])
    func `a worker that is taken to hold a URL without a lock holds it no longer`(isAnothers: Bool) async throws {
        try await QueueFixture.with { fixture in
            let batch = try await fixture.fill(0..<1)
            let job = try await fixture.claim(1).jobs[0]
            if isAnothers {
                var lock = try await fixture.send("HGET", "locks", .bytes(job.id.bytes)).asBytes()
                lock.replaceSubrange(9..<17, with: Array("nobody's".utf8))
                try await fixture.send("HSET", "locks", .bytes(job.id.bytes), .bytes(lock))
                try await fixture.expectDrift([.flightWithoutLock, .lockWithoutFlight], also: [.hostCount])
                #expect(try await fixture.claim(1, worker: "other").jobs.map(\.id) == [job.id])
            } else {
                try await fixture.send("HDEL", "locks", .bytes(job.id.bytes))
                try await fixture.expectDrift([.flightWithoutLock, .hostCount, .counter, .jobsLost])
                #expect(try await fixture.queue.batches([batch]).first?.isComplete == true)
            }
        }
    }

    @Test func `a lock whose holder knows nothing of it is given up, and its job is first again`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([7, 7, 7])
            let job = try await fixture.claim(3).jobs[0]
            try await fixture.send("HDEL", fixture.holder(job), .bytes(job.id.bytes))
            try await fixture.expectDrift([.lockWithoutFlight], also: [.hostCount])
            let again = try await fixture.claim(3, worker: "other").jobs
            #expect(again.map(\.id) == [job.id] && again.map(\.crashes) == [0])
            #expect(try await fixture.settle(again[0], QueueFixture.fetched(job.url)) == .settled)
            for one in try await fixture.claim(3).jobs { #expect(try await fixture.settle(one, .delivered) == .settled) }
            #expect(try await fixture.queue.counts().done == 3)
        }
    }

    @Test(arguments: ["timer", "lock"]) func `followers that nothing leads to go on`(lost: String) async throws {
        try await QueueFixture.with { fixture in
            let batch = try await fixture.fill([7, 7, 7])
            let job = try await fixture.claim(3).jobs[0]
            if lost == "timer" {
                try await fixture.send("ZREM", fixture.queueKey("timers:normal"), .bytes(fixture.keyBytes("u", 7)))
                try await fixture.expectDrift([.parkedWithoutFlight])
                #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled)
            } else {
                try await fixture.send("HDEL", "locks", .bytes(job.id.bytes))
                try await fixture.expectDrift([.parkedWithoutFlight, .flightWithoutLock, .hostCount, .counter, .jobsLost])
                let next = try await fixture.claim(3).jobs[0]
                #expect(try await fixture.settle(next, QueueFixture.fetched(next.url)) == .settled)
            }
            for one in try await fixture.claim(3).jobs { #expect(try await fixture.settle(one, .delivered) == .settled) }
            let found = try await fixture.queue.batches([batch]).first
            #expect(found?.isComplete == true && found?.failed == (lost == "timer" ? 0 : 1))
        }
    }

    @Test func `an attempt to come that no job waits for is dropped, and its job counts as lost`() async throws {
        try await QueueFixture.with { fixture in
            let batch = try await fixture.fill([7])
            let job = try await fixture.claim(1).jobs[0]
            #expect(try await fixture.settle(job, QueueFixture.retried(job.url, after: .seconds(60))) == .settled)
            try await fixture.send("DEL", fixture.followers(7))
            try await fixture.expectDrift([.retryWithoutJob, .counter, .jobsLost])
            #expect(try await fixture.cluster.explain(job.id, host: "h0").holder == nil)
            #expect(try await fixture.queue.batches([batch]).first?.isComplete == true)
        }
    }
}
