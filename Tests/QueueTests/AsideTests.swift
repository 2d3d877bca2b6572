import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// Jobs that an exchange met while their host had no room stand aside, in a list of that host.
@Suite struct AsideTests {
    private func jobs(in list: String, _ fixture: QueueFixture) async throws -> [URLID] {
        let queue = try await fixture.looks()[0].queues["q"]
        let blocks = queue?.aside[list]?.compactMap(\.jobs) ?? queue?.ready[list] ?? []
        return blocks.flatMap { $0.jobs.map { URLID($0.id)! } }
    }

    @Test func `each block moves aside once, and its jobs leave in order`() async throws {
        try await QueueFixture.with { fixture in
            let total = 3000
            var progress = try await fixture.queue.begin(batch: "b")
            for start in stride(from: 0, to: total, by: 1000) {
                let rows = try (start..<start + 1000).map { (entry: try QueueFixture.entry($0), row: $0 + 1) }
                _ = try await fixture.queue.enqueue(rows, to: start + 1000, of: &progress, closing: start + 1000 == total)
            }
            var held = try await fixture.claim(1, hostLimit: 1).jobs
            #expect(try await fixture.claimAll(1, hostLimit: 1).isEmpty)
            #expect(try await jobs(in: "normal", fixture).isEmpty)
            #expect(try await jobs(in: "normal:h0", fixture) == (1..<total).map(QueueFixture.id))
            for count in 1...20 {
                #expect(try await fixture.settle(held[0], QueueFixture.fetched(held[0].url)) == .settled)
                held = try await fixture.claim(1, hostLimit: 1).jobs
                #expect(held.map(\.id) == [QueueFixture.id(count)])
                #expect(try await jobs(in: "normal", fixture).isEmpty)
            }
            #expect(try await jobs(in: "normal:h0", fixture) == (21..<total).map(QueueFixture.id))
            try await fixture.expectSound()
        }
    }

    @Test(arguments: 1...4)
    func `a job that came back between the blocks of its host leaves all of them readable`(limit: Int) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            var progress = try await fixture.queue.begin(batch: "b")
            func add(_ range: Range<Int>) async throws {
                let rows = try range.map { (entry: try QueueFixture.entry($0), row: $0 + 1) }
                _ = try await fixture.queue.enqueue(rows, to: range.upperBound, of: &progress, closing: range.upperBound == 20)
            }
            try await add(0..<10)
            let first = try await fixture.claim(2, hostLimit: 2).jobs
            #expect(try await fixture.claimAll(1, hostLimit: 1).isEmpty)
            // The retry is due, and its host has no room.
            #expect(try await fixture.settle(first[0], QueueFixture.retried(first[0].url, after: .zero)) == .settled)
            _ = try await fixture.claim(1, hostLimit: 1)
            try await add(10..<20)
            #expect(try await fixture.claimAll(1, hostLimit: 1).isEmpty)
            #expect(try await fixture.settle(first[1], QueueFixture.fetched("u")) == .settled)
            for job in try await fixture.claim(200, hostLimit: 2).jobs {
                #expect(try await fixture.settle(job, QueueFixture.fetched("u")) == .settled)
            }
            try await fixture.expectSound()
            try await fixture.claimAll(limit) { _ = try await fixture.settle($0, QueueFixture.fetched($0.url)) }
            let counts = try await fixture.queue.counts()
            #expect(counts.ready == 0 && counts.done == 20, "\(counts)")
            try await fixture.expectEnded()
        }
    }

    @Test func `duplicates aside of a URL that is being fetched follow it at once`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill([0])
            #expect(try await fixture.claim(1, hostLimit: 1).jobs.count == 1)
            try await fixture.fill([Int](repeating: 0, count: 200), batch: "duplicates")
            #expect(try await fixture.claim(1, hostLimit: 1).jobs.isEmpty)
            for _ in 0..<7 {
                clock.advance(by: .seconds(5))
                _ = try await fixture.claim(0)
            }
            // The host has room for one request more.
            #expect(try await fixture.claim(1, hostLimit: 2).jobs.isEmpty)
            #expect(try await fixture.queue.counts().parked == 200)
        }
    }

    @Test func `the followers of a URL have one timer, also where its earlier followers have left it aside under another priority`()
        async throws
    {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            let entry = try JobEntry(id: QueueFixture.id(0), host: "a.d", url: "http://a.d/0")
            func enqueue(_ priority: Priority) async throws {
                var options = BatchOptions()
                options.priority = priority
                options.refresh = priority == .low
                try await fixture.accept([entry], batch: "\(priority)", options: options)
            }
            func acquire(_ caller: UInt64) async throws -> LockToken {
                var request = AcquireRequest(
                    id: entry.id, host: entry.host, incarnation: Incarnation(caller), nonce: caller, lease: QueueFixture.lease)
                request.refresh = true
                guard case .leased(let token, _) = try await fixture.cluster.acquire(request).fate else { throw KitError("no lock") }
                return token
            }
            // The URL came back while its host was paused, and stands aside. A caller of the library fetches it, and so the job ends.
            try await enqueue(.high)
            let job = try await fixture.claim(1).jobs[0]
            try await fixture.cluster.set(OperatorRule("*.d", pause: .seconds(3600)))
            #expect(try await fixture.settle(job, .handedBack) == .settled)
            #expect(try await fixture.claim(1).jobs.isEmpty)
            #expect(try await fixture.settle(try await acquire(1), entry.id, QueueFixture.fetched(entry.url)) == .settled)
            let delivery = try await fixture.claim(1).jobs[0]
            #expect(try await fixture.settle(delivery, .delivered) == .settled)
            // Another job follows the URL under another priority, and then the list aside is looked at.
            #expect(try await fixture.cluster.clearRule("*.d"))
            clock.advance(by: .seconds(1))
            let token = try await acquire(2)
            try await enqueue(.low)
            #expect(try await fixture.claim(1).jobs.isEmpty)
            #expect(try await fixture.queue.counts().parked == 1)
            try await fixture.expectSound("before")
            clock.advance(by: .seconds(30))
            #expect(try await fixture.claim(1).jobs.isEmpty)
            try await fixture.expectSound("after")
            #expect(try await fixture.cluster.audit(mend: false).isEmpty)
            #expect(try await fixture.settle(token, entry.id, QueueFixture.fetched(entry.url)) == .settled)
            try await fixture.drain()
            try await fixture.expectEnded()
        }
    }

    @Test func `a job leaves a long list at the same cost as a short one`() async throws {
        var calls: [Int] = []
        for total in [100, 6400] {
            let server = try await RedisServer.start()
            try await QueueFixture.with(server) { fixture in
                try await fixture.fill(0..<total)
                let job = try await fixture.claim(1, hostLimit: 1, lease: QueueFixture.neverExtended).jobs[0]
                #expect(try await fixture.claimAll(1, hostLimit: 1).isEmpty)
                var next: [Job] = []
                let statistics = try await server.statistics {
                    _ = try await fixture.settle(job, QueueFixture.fetched("u"))
                    next = try await fixture.claim(1, hostLimit: 1).jobs
                }
                #expect(next.map(\.id) == [QueueFixture.id(1)])
                calls.append(statistics.callsInScripts)
            }
            try await server.stop()
        }
        #expect(calls[0] == calls[1])
    }

    /// A block of 64 is copied several times when a script reads it.
    @Test func `a look at blocks aside reads few that it does not need`() async throws {
        let server = try await RedisServer.start()
        try await QueueFixture.with(server) { fixture in
            try await fixture.fill(0..<6400)
            let job = try await fixture.claim(1, hostLimit: 1).jobs[0]
            #expect(try await fixture.claimAll(1, hostLimit: 1).isEmpty)
            _ = try await fixture.settle(job, QueueFixture.fetched("u"))
            let watch = try await server.watch()
            #expect(try await fixture.claim(40, hostLimit: 1000).jobs.count == 40)
            _ = try await fixture.claim(60, hostLimit: 1000)
            _ = try await server.command("ECHO", "both calls are over")
            let reads = try await watch.commands("LRANGE", until: "both calls are over").filter { $0.contains("aside") }
            let elements = reads.compactMap { $0.split(separator: "\"").last.flatMap { Int($0) }.map { $0 + 1 } }
            #expect(!elements.isEmpty && elements.count == reads.count && elements.reduce(0, +) <= 8, "\(reads)")
        }
        try await server.stop()
    }

    @Test func `the lists aside of many hosts and priorities are all served to their end`() async throws {
        try await QueueFixture.with { fixture in
            for (index, priority) in Priority.allCases.enumerated() {
                var options = BatchOptions()
                options.priority = priority
                try await fixture.fill(index * 200..<index * 200 + 200, hosts: 40, batch: "\(priority)", options: options)
            }
            // At first all jobs but forty stand aside.
            let jobs = try await fixture.claim(256, hostLimit: 1).jobs
            #expect(jobs.count == 40)
            for job in jobs { #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled) }
            #expect(try await fixture.drain(hostLimit: 1).count == 560)
            try await fixture.expectEnded()
            #expect(try await fixture.hostNames() == [])
        }
    }
}
