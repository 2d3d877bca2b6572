import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// Delayed jobs lie in long lists, one for each delay, and one timer leads to each list.
@Suite struct DelayedListTests {
    /// Here a part of a list has three blocks of one job.
    private static func with(partBytes: Int = 90, _ body: (QueueFixture, MovableClock) async throws -> Void) async throws {
        let server = try await RedisServer.start(.init { $0.movableClock = true })
        server.clock.stop()
        try await QueueFixture.with(server, scripts: ClusterScripts(partBytes: partBytes)) { try await body($0, server.clock) }
        try await server.stop()
    }

    /// Accepts jobs in chunks of one, so that each is a block. Some time goes by between two of them.
    private static func fill(
        _ fixture: QueueFixture, _ clock: MovableClock, _ numbers: some Sequence<Int>, batch: String = "b", hosts: Int = 50,
        delay: Duration = .seconds(60)
    ) async throws {
        var progress = try await fixture.queue.begin(batch: batch)
        for number in numbers {
            let row = (entry: try QueueFixture.entry(number, hosts: hosts), row: progress.offset + 1)
            _ = try await fixture.queue.enqueue([row], to: row.row, of: &progress, delay: delay)
            clock.advance(by: .milliseconds(1))
        }
        _ = try await fixture.queue.enqueue([], to: progress.offset, of: &progress, closing: true)
    }

    private static func lengths(_ fixture: QueueFixture, _ list: RedisArgument) async throws -> [Int] {
        try await fixture.cluster.look(at: [list])[0].parts.map(\.length)
    }

    private static func timers(_ fixture: QueueFixture) async throws -> Int {
        try await fixture.send("ZCARD", fixture.queueKey("timers:normal")).asInteger()
    }

    /// Expects that no key is left which would lead to a job.
    private static func expectNoList(_ fixture: QueueFixture) async throws {
        let left = try await fixture.dump().values.keys.filter { $0.contains("ready") || $0.contains("delayed") || $0.contains("timers") }
        #expect(left == [])
        try await fixture.expectSound()
    }

    @Test func `a long list of delayed jobs makes no large key`() async throws {
        let (partBytes, chunk, chunks) = (1 << 14, 200, 30)
        try await Self.with(partBytes: partBytes) { fixture, clock in
            var progress = try await fixture.queue.begin(batch: "b")
            for start in stride(from: 0, to: chunk * chunks, by: chunk) {
                let rows = try (start..<start + chunk).map { (entry: try QueueFixture.entry($0, hosts: 300), row: $0 + 1) }
                _ = try await fixture.queue.enqueue(
                    rows, to: start + chunk, of: &progress, closing: start + chunk == chunk * chunks, delay: .seconds(3600))
            }
            var (largest, all) = (0, 0)
            for key in try await fixture.redis.send(RedisCommand("KEYS", "*")).asArray() {
                let bytes = try await fixture.redis.send(RedisCommand("MEMORY", "USAGE", .bytes(try key.asBytes()), "SAMPLES", 0))
                    .asInteger()
                (largest, all) = (max(largest, bytes), all + bytes)
            }
            #expect(all > 8 * partBytes && largest < 2 * partBytes, "\(largest) of \(all) bytes are in one key")
            #expect(try await Self.timers(fixture) == 1)
            #expect(try await fixture.drain() == [])
            clock.advance(by: .seconds(3601))
            let jobs = try await fixture.work().jobs
            #expect(jobs.count == chunk * chunks && Set(jobs.map(\.id)).count == chunk * chunks)
            try await fixture.expectEnded()
        }
    }

    @Test(arguments: [1, 7, 64]) func `delayed jobs are handed out in their order, each when it is due`(size: Int) async throws {
        try await Self.with { fixture, clock in
            try await Self.fill(fixture, clock, 0..<50)
            let list = fixture.cluster.home.keys.delayed(60_000, .normal, of: "q")
            #expect(try await Self.lengths(fixture, list).allSatisfy { $0 <= 3 })
            try await Self.fill(fixture, clock, 100..<110, batch: "at once", delay: .zero)
            #expect(try await fixture.drain() == (100..<110).map { QueueFixture.id($0) })
            // The first jobs were accepted 60 ms ago.
            clock.advance(by: .milliseconds(60_000 - 60 + 19))
            var due: [URLID] = []
            while case let jobs = try await fixture.claim(size).jobs, !jobs.isEmpty { due += jobs.map(\.id) }
            #expect(due == (0..<20).map { QueueFixture.id($0) })
            #expect(try await fixture.queue.counts().delayed == 30)
            try await fixture.expectSound()
            clock.advance(by: .seconds(1))
            try await Self.fill(fixture, clock, 200..<203, batch: "later", delay: .zero)
            while case let jobs = try await fixture.claim(size).jobs, !jobs.isEmpty { due += jobs.map(\.id) }
            #expect(due == (Array(0..<50) + Array(200..<203)).map { QueueFixture.id($0) })
            try await Self.expectNoList(fixture)
        }
    }

    @Test func `lists of several delays are served as they are due`() async throws {
        try await Self.with { fixture, clock in
            try await Self.fill(fixture, clock, 0..<4, batch: "long", delay: .seconds(60))
            try await Self.fill(fixture, clock, 10..<14, batch: "short", delay: .seconds(1))
            try await Self.fill(fixture, clock, 20..<24, batch: "late", delay: .seconds(600))
            #expect(try await Self.timers(fixture) == 3)
            clock.advance(by: .seconds(120))
            #expect(try await fixture.claim(2).jobs.map(\.id) == [10, 11].map { QueueFixture.id($0) })
            // An exchange goes on where jobs are due first, although another list came before.
            try await Self.fill(fixture, clock, 30..<32, batch: "other", delay: .zero)
            #expect(try await fixture.claim(4).jobs.map(\.id) == [12, 13, 0, 1].map { QueueFixture.id($0) })
            #expect(try await fixture.claim(9).jobs.map(\.id) == [2, 3, 30, 31].map { QueueFixture.id($0) })
            #expect(try await fixture.queue.counts().delayed == 4)
            try await fixture.expectSound()
        }
    }

    @Test func `hosts with jobs aside are looked at however many delays are due before them`() async throws {
        try await Self.with { fixture, clock in
            // A job whose host is full stands aside, and each of the other jobs has a delay of its own.
            try await fixture.fill(500..<502, batch: "aside")
            let first = try #require(try await fixture.claim(1, hostLimit: 1).jobs.first)
            for number in 0..<70 {
                try await Self.fill(fixture, clock, [number + 1], batch: "\(number)", hosts: 100, delay: .milliseconds(1 + number))
            }
            clock.advance(by: .seconds(1))
            #expect(try await fixture.claim(1, hostLimit: 1).jobs.map(\.id) == [QueueFixture.id(1)])
            #expect(try await fixture.settle(first, QueueFixture.fetched(first.url)) == .settled)
            #expect(try await fixture.claim(1, hostLimit: 1).jobs.map(\.id) == [QueueFixture.id(501)])
            #expect(try await fixture.drain() == (2..<71).map { QueueFixture.id($0) })
            try await Self.expectNoList(fixture)
        }
    }

    @Test func `delayed jobs that are deleted, cancelled or made due leave the others in their order`() async throws {
        try await Self.with { fixture, clock in
            for start in stride(from: 0, to: 40, by: 4) {
                try await Self.fill(fixture, clock, start..<start + 2, batch: "kept \(start)", hosts: 2)
                try await Self.fill(fixture, clock, start + 2..<start + 4, batch: "cancelled \(start)", hosts: 2)
            }
            for start in stride(from: 0, to: 40, by: 4) {
                let batch = try #require(try await fixture.queue.number(ofBatch: "cancelled \(start)"))
                #expect(try await fixture.queue.cancel(batch: batch) == 2)
            }
            #expect(try await fixture.queue.delete(JobSelection(.delayed, JobFilter(host: "h1")), limit: 4).count == 4)
            // The jobs of host 0, and those of host 1 but the last four.
            #expect(try await fixture.queue.retry(JobSelection(.delayed, JobFilter(host: "h1"))).count == 6)
            try await fixture.expectSound()
            #expect(try await fixture.drain() == stride(from: 1, to: 24, by: 4).map { QueueFixture.id($0) })
            #expect(try await fixture.queue.counts().delayed == 10)
            clock.advance(by: .seconds(61))
            #expect(try await fixture.drain() == stride(from: 0, to: 40, by: 4).map { QueueFixture.id($0) })
            try await Self.expectNoList(fixture)
        }
    }

    @Test func `delayed jobs that an operator makes due go before jobs that never ran, and lie in parts`() async throws {
        try await Self.with { fixture, clock in
            try await Self.fill(fixture, clock, 0..<50)
            try await Self.fill(fixture, clock, 100..<110, batch: "at once", delay: .zero)
            #expect(try await fixture.queue.retry(JobSelection(.delayed)).count == 50)
            let ready = try await Self.lengths(fixture, fixture.cluster.home.keys.ready(.normal, of: "q"))
            #expect(ready.reduce(0, +) == 60 && ready.allSatisfy { $0 <= 4 }, "\(ready)")
            #expect(try await fixture.queue.counts().delayed == 0)
            try await fixture.expectSound()
            #expect(try await fixture.drain() == (Array(0..<50) + Array(100..<110)).map { QueueFixture.id($0) })
            try await Self.expectNoList(fixture)
        }
    }

    @Test(arguments: [1, 3, 100]) func `a listing shows each delayed job once, with the time when it is due`(limit: Int) async throws {
        try await Self.with { fixture, clock in
            let now = try await fixture.cluster.now()
            try await Self.fill(fixture, clock, 0..<20)
            try await Self.fill(fixture, clock, 20..<25, batch: "other", delay: .seconds(5))
            var listed: [ListedJob] = []
            var cursor: JobCursor? = JobCursor()
            while let from = cursor {
                let page = try await fixture.queue.jobs(JobSelection(.delayed), from: from, limit: limit)
                listed += page.jobs
                cursor = page.next
            }
            // The list that is due first comes first.
            #expect(listed.map(\.entry.id) == (Array(20..<25) + Array(0..<20)).map { QueueFixture.id($0) })
            #expect(listed.map { ($0.at ?? 0) - now } == (20..<25).map { 5000 + $0 } + (0..<20).map { 60_000 + $0 })
            #expect(try await fixture.queue.count(JobSelection(.delayed, JobFilter(host: "h3"))).count == 1)
        }
    }

    @Test func `a queue that is cleared leaves no delayed list`() async throws {
        try await Self.with { fixture, clock in
            try await Self.fill(fixture, clock, 0..<20)
            try await Self.fill(fixture, clock, 20..<25, batch: "other", delay: .seconds(5))
            try await fixture.queue.clear()
            #expect(try await fixture.dump().values.keys.filter { $0.hasPrefix("q:") } == [])
        }
    }

    @Test func `a delayed list without a timer is found, and its jobs come when they are due`() async throws {
        try await Self.with { fixture, clock in
            try await Self.fill(fixture, clock, 0..<5)
            try await fixture.send("DEL", fixture.queueKey("timers:normal"))
            try await fixture.expectDrift([.heldNotDue])
            #expect(try await fixture.drain() == [])
            clock.advance(by: .seconds(61))
            #expect(try await fixture.drain() == (0..<5).map { QueueFixture.id($0) })
            try await Self.expectNoList(fixture)
        }
    }

    @Test(arguments: [false, true]) func `delayed jobs that are due cost Redis as much as others`(isShared: Bool) async throws {
        func commands(delay: Duration) async throws -> Int {
            var commands = 0
            let server = try await RedisServer.start(.init { $0.movableClock = true })
            server.clock.stop()
            try await QueueFixture.with(server) { fixture in
                var options = BatchOptions()
                options.delay = delay
                try await fixture.fill(0..<1280, hosts: 20, options: options)
                options.priority = .high
                if isShared { try await fixture.fill(2000..<3280, hosts: 20, batch: "high", options: options) }
                _ = try await fixture.claim(0, lease: QueueFixture.neverExtended)
                server.clock.advance(by: .seconds(60))
                var jobs = 0
                commands = try await server.statistics { jobs = try await fixture.work(64, hostLimit: 64).jobs.count }.callsInScripts
                #expect(jobs == (isShared ? 2560 : 1280))
            }
            try await server.stop()
            return commands
        }
        let (usual, delayed) = (try await commands(delay: .zero), try await commands(delay: .seconds(30)))
        let exchanges = (isShared ? 2560 : 1280) / 64 + 2
        #expect(delayed <= usual + exchanges * (isShared ? 10 : 5), "\(usual) commands, and \(delayed) with a delay")
        print("\(usual) commands, and \(delayed) with a delay, in \(exchanges) exchanges")
    }
}
