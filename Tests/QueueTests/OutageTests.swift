import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// Redis is away, or its clock jumps. No living worker loses anything by that, and no job is stuck.
@Suite struct OutageTests {
    enum Outage: String, CaseIterable, Sendable {
        /// The server is silent, and its connections stay open.
        case stopped

        /// The server is gone and started again, from its append-only file.
        case killed
    }

    @Test(arguments: Outage.allCases)
    func `three outages longer than a lease cost no job of a worker that comes back a little later`(outage: Outage) async throws {
        let server = try await RedisServer.start(
            .init {
                $0.movableClock = true
                $0.appendOnly = true
            })
        server.clock.stop()
        try await QueueFixture.with(server) { fixture in
            try await fixture.fill([0, 1, 2, 3, 0], hosts: 2)
            let jobs = try await fixture.claim(10).jobs
            #expect(jobs.count == 4)
            for _ in 0..<3 {
                #expect(try await fixture.claim(0).held == 4)
                // Almost a third of the lease passes, and others look meanwhile.
                for _ in 0..<2 {
                    server.clock.advance(by: .milliseconds(4900))
                    #expect(try await fixture.claim(10, worker: "other").jobs.isEmpty)
                }
                switch outage {
                case .stopped:
                    server.pause()
                    server.clock.advance(by: .seconds(300))
                    server.resume()
                case .killed:
                    try await server.kill9()
                    server.clock.advance(by: .seconds(300))
                    try await server.restart()
                    // The connection is made again with the first call that finds it lost.
                    try await eventually("Redis answers again") { (try? await fixture.redis.send(RedisCommand("PING"))) != nil }
                }
                // Others are back sooner than the worker that holds the leases.
                for _ in 0..<2 {
                    #expect(try await fixture.claim(10, worker: "other").jobs.isEmpty)
                    server.clock.advance(by: .milliseconds(4900))
                }
                #expect(try await fixture.claim(0).held == 4)
            }
            #expect(try await fixture.queue.counts().crashed == 0)
            for job in jobs { #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled) }
            #expect(try await fixture.drain() == [])
            #expect(try await fixture.queue.counts().fenced == 0)
            try await fixture.expectEnded()
        }
        try await server.stop()
    }

    @Test(arguments: [[3600], [-3600], [3600, -3600], [-3600, 3600]])
    func `a clock that jumps recovers nothing early, and everything in the end`(jumps: [Int]) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            // 0 is held by a worker that only renews, 1 failed, 2 put its host off, 3 is delayed.
            try await fixture.fill([0])
            let held = try await fixture.claim(1, worker: "holder").jobs
            #expect(held.count == 1)
            try await fixture.fill([1, 2], hosts: 3, batch: "failing")
            let jobs = try await fixture.claim(2).jobs
            #expect(try await fixture.settle(jobs[0], QueueFixture.retried("u", after: .seconds(12))) == .settled)
            #expect(try await fixture.settle(jobs[1], QueueFixture.throttled("u", for: .seconds(17))) == .settled)
            var delayed = BatchOptions()
            delayed.delay = .seconds(8)
            try await fixture.fill([3], batch: "c", options: delayed)
            var last = 0
            func claim() async throws -> [Int] {
                let answer = try await fixture.claim(10)
                #expect(answer.now >= last, "queue time never decreases")
                last = answer.now
                for job in answer.jobs where job.id != QueueFixture.id(0) {
                    #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled)
                }
                return answer.jobs.map { Int($0.id.bytes[7]) }
            }

            var ended: [Int: Int] = [:]
            for jump in jumps {
                clock.advance(by: .seconds(jump))
                for number in try await claim() { ended[number] = 0 }
                #expect(try await fixture.claim(0, worker: "holder").held == 1)
            }
            #expect(try await fixture.queue.counts().crashed == 0)
            // When the clock goes forward, jobs that wait for a time may come early, but never late.
            if jumps[0] > 0 { #expect(Set(ended.keys) == [1, 2, 3]) } else if jumps == [-3600] { #expect(ended.isEmpty) }
            for second in 1...40 {
                clock.advance(by: .seconds(1))
                for number in try await claim() where ended[number] == nil { ended[number] = second }
            }
            if jumps == [-3600] { #expect(ended == [3: 8, 1: 12, 2: 17, 0: 30]) }
            #expect(Set(ended.keys) == [0, 1, 2, 3])
            // After a gap, lease time stands still for a step: a sixth of this lease.
            #expect((30...35).contains(ended[0] ?? 0))
            #expect(try await fixture.queue.counts().crashed == 1)
        }
    }

    @Test(arguments: [3, 30]) func `a gap in which nobody could call ends no lease, however short leases are`(seconds: Int) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            let lease = Duration.seconds(seconds)
            try await fixture.fill(0..<4)
            for worker in ["a", "b"] { #expect(try await fixture.claim(2, worker: worker, lease: lease).jobs.count == 2) }
            for _ in 0..<5 {
                clock.advance(by: .seconds(300))
                // The first one back moves lease time on for all by one step, and the other has a fair time to come back.
                #expect(try await fixture.claim(4, worker: "a", lease: lease).jobs.isEmpty)
                clock.advance(by: lease / 4)
                #expect(try await fixture.claim(4, worker: "a", lease: lease).jobs.isEmpty)
                #expect(try await fixture.claim(0, worker: "b", lease: lease).held == 2)
            }
            #expect(try await fixture.queue.counts().crashed == 0)
        }
    }

    @Test func `while lease time stands still, nobody is asked to look again and again for a lease that nearly ended before`() async throws
    {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill([0])
            #expect(try await fixture.claim(1, worker: "dies", lease: .seconds(30)).jobs.count == 1)
            // One gap counts as five seconds, and leaves five milliseconds of the lease.
            for gap in [4999, 4999, 4999, 4999, 4999, 35_000] {
                clock.advance(by: .milliseconds(gap))
                _ = try await fixture.claim(1, worker: "looks", lease: .seconds(30))
            }
            #expect(try await fixture.claim(1, worker: "looks", lease: .seconds(30)).next == .seconds(5))
            clock.advance(by: .seconds(5))
            #expect(try await fixture.claim(1, worker: "looks", lease: .seconds(30)).next == .milliseconds(5))
            clock.advance(by: .milliseconds(5))
            var jobs = try await fixture.claim(1, worker: "looks", lease: .seconds(30)).jobs
            if jobs.isEmpty { jobs = try await fixture.claim(1, worker: "looks", lease: .seconds(30)).jobs }
            #expect(jobs.map(\.crashes) == [1])
        }
    }

    @Test func `with a Redis that is there for half of the time, work goes on and nobody is charged`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            let lease = Duration.seconds(3)
            try await fixture.fill(0..<40)
            var held: [Job] = []
            for _ in 0..<40 {
                clock.advance(by: .seconds(2))
                for job in held { #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled) }
                held = try await fixture.claim(2, lease: lease).jobs
                for _ in 0..<3 {
                    clock.advance(by: .milliseconds(500))
                    _ = try await fixture.claim(0, worker: "other", lease: lease)
                }
            }
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 40 && counts.crashed == 0)
        }
    }
}
