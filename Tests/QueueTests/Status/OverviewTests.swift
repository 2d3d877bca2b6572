import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// The contents of an overview, and its cost.
@Suite struct OverviewTests {
    @Test func `the oldest waiting job is found among ready jobs, jobs that came back, and jobs held for a host`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            let age = { () async throws -> Int? in
                let overview = try await fixture.queue.overview()
                return overview.oldestReady.map { overview.now - $0 }
            }
            #expect(try await age() == nil)
            try await fixture.fill([0], batch: "first")
            clock.advance(by: .seconds(10))
            try await fixture.fill([1, 2], batch: "second")
            clock.advance(by: .seconds(1))
            #expect(try await age() == 11_000)
            let first = try await fixture.claim(1).jobs[0]
            #expect(try await age() == 1000)
            _ = try await fixture.settle(first, .handedBack)
            #expect(try await age() == 11_000)
            // One job is in flight, and the next is held until its host has room.
            _ = try await fixture.claim(1, hostLimit: 1)
            _ = try await fixture.claim(1, hostLimit: 1)
            #expect(try await fixture.redis.send(RedisCommand("LLEN", .string(fixture.key(queue: "ready:normal")))).asInteger() == 0)
            #expect(try await age() == 1000)
        }
    }

    @Test func `batches and counts of an overview are of one moment, while jobs end`() async throws {
        try await QueueFixture.with(partitions: 3) { fixture in
            try await fixture.fill(0..<2000, hosts: 50)
            async let drained = fixture.drain()
            var looks = 0
            while true {
                let overview = try await fixture.queue.overview(batches: 10)
                let batch = try #require(overview.batches.first)
                // A batch is read right before the counts of its partition, so what has ended in the batch has ended in the counts.
                #expect(overview.batches.count == 1 && batch.total == 2000 && batch.ended <= overview.counts.done)
                #expect(batch.ended + overview.counts.open <= batch.total)
                looks += 1
                if overview.counts.open == 0 { break }
            }
            #expect(try await drained.count == 2000)
            #expect(looks > 1)
        }
    }

    @Test
    func
        `an overview costs as many calls with thirty thousand jobs, of a thousand hosts that are full, as with some hundred, and writes nothing`()
        async throws
    {
        let few = try await Self.cost(jobs: 200, hosts: 80)
        let many = try await Self.cost(jobs: 10_000, hosts: 1000)
        #expect(many.callsInScripts == few.callsInScripts, "\(few.commands) \(many.commands)")
        #expect(many.callsInScripts < 400)
    }

    private static func cost(jobs: Int, hosts: Int) async throws -> CommandStatistics {
        let server = try await RedisServer.start()
        let fixture = try await QueueFixture.connect(path: server.socketPath)
        for priority in Priority.allCases {
            let first = priority.number * jobs
            var options = BatchOptions()
            options.priority = priority
            for start in stride(from: 0, to: jobs, by: 1000) {
                let entries = try (start..<min(start + 1000, jobs)).map { try QueueFixture.entry(first + $0, hosts: hosts) }
                try await fixture.accept(entries, batch: "\(priority)", options: options, closing: start + 1000 >= jobs)
            }
        }
        // One job of each host is in flight, and others are held until it has ended.
        var leased = 0
        for _ in 0..<200 { leased += try await fixture.claim(min(256, max(1, hosts - leased)), hostLimit: 1).jobs.count }
        let held = try await fixture.redis.send(RedisCommand("ZCARD", .string(fixture.key(queue: "timers:low")))).asInteger()
        guard leased == hosts, held > 16 else { throw KitError("\(leased) are in flight, and \(held) hosts are waited for") }
        for worker in 0..<10 { _ = try await fixture.queue.beat("w\(worker)", .ofTest) }
        // With this call the server learns the script before the measurement.
        _ = try await fixture.queue.overview()
        let before = try await fixture.dump()
        let statistics = try await server.statistics {
            let ready = try await fixture.queue.overview().counts.ready
            #expect(ready == 3 * jobs - hosts)
        }
        #expect(try await fixture.dump() == before)
        await fixture.redis.close()
        try await server.stop()
        return statistics
    }
}
