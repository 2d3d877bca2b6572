#if canImport(Glibc)
import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

/// Redis is away, or its clock jumps. No living worker loses anything by that, and no job is stuck.
@Suite struct OutageTests {
    enum Outage: String, CaseIterable, Sendable {
        /// The server is silent, and its connections stay open.
        case stopped

        /// The server is gone and started again, from its append-only file.
        case killed
    }

    @Test(arguments: Outage.allCases)
    func `three outages longer than a lease cost no job of a worker that renews a little later`(outage: Outage) async throws {
        let server = try await RedisServer.start(
            .init {
                $0.movableClock = true
                $0.appendOnly = true
            })
        server.clock.stop()
        try await QueueFixture.with(server) { fixture in
            try await fixture.fill([0, 1, 2, 3, 0], hosts: 2)
            let jobs = try await fixture.claim(10).jobs
            let tokens = jobs.map(\.token)
            #expect(jobs.count == 4)
            for _ in 0..<3 {
                #expect(try await fixture.cluster.renew(tokens, lease: QueueFixture.lease) == [])
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
                #expect(try await fixture.cluster.renew(tokens, lease: QueueFixture.lease) == [])
            }
            #expect(try await fixture.queue.counts().crashed == 0)
            for job in jobs { #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled) }
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
            // 0 is held, 1 failed, 2 put its host off, 3 is delayed.
            try await fixture.fill(0..<3, hosts: 3)
            let jobs = try await fixture.claim(3).jobs
            #expect(try await fixture.settle(jobs[1], .retry(after: .seconds(12))) == .settled)
            #expect(try await fixture.settle(jobs[2], .throttled(for: .seconds(17))) == .settled)
            let number = try await fixture.queue.begin(batch: "c").number
            let delayed = [try QueueFixture.entry(3)]
            _ = try await fixture.queue.enqueue(delayed, batch: number, from: 0, to: 1, closing: true, delay: .seconds(8))
            var last = 0
            func claim() async throws -> [Int] {
                let answer = try await fixture.claim(10)
                #expect(answer.now >= last, "queue time never decreases")
                last = answer.now
                for job in answer.jobs where job.entry.id != QueueFixture.id(0) {
                    #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled)
                }
                return answer.jobs.map { Int($0.entry.id.bytes[7]) }
            }

            var ended: [Int: Int] = [:]
            for jump in jumps {
                clock.advance(by: .seconds(jump))
                for number in try await claim() { ended[number] = 0 }
                #expect(try await fixture.cluster.renew([jobs[0].token], lease: QueueFixture.lease) == [])
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
            #expect(ended[0] == 30)
            #expect(try await fixture.queue.counts().crashed == 1)
        }
    }

    @Test func `a renewal for less than the lease outlasts an outage as well`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<1)
            let tokens = try await fixture.claim(1).jobs.map(\.token)
            #expect(try await fixture.cluster.renew(tokens, lease: .seconds(3)) == [])
            clock.advance(by: .seconds(300))
            #expect(try await fixture.claim(1).jobs.isEmpty)
            #expect(try await fixture.cluster.renew(tokens, lease: .seconds(3)) == [])
        }
    }
}
#endif
