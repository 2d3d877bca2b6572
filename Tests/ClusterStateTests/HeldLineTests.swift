import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

/// Jobs that a claim met while their host had no room wait in a list of that host.
@Suite struct HeldLineTests {
    @Test func `each job is moved to the held list once, and leaves it in order`() async throws {
        try await QueueFixture.with { fixture in
            let number = try await fixture.queue.begin(batch: "b").number
            let total = 3000
            for start in stride(from: 0, to: total, by: 1000) {
                let entries = try (start..<start + 1000).map { try QueueFixture.entry($0) }
                _ = try await fixture.queue.enqueue(entries, batch: number, from: start, to: start + 1000, closing: start + 1000 == total)
            }
            var jobs = try await fixture.claim(1, hostLimit: 1).jobs
            #expect(try await fixture.claimAll(1, hostLimit: 1).isEmpty)
            #expect(try await fixture.redis.send(RedisCommand("EXISTS", .string(fixture.key(queue: "ready:normal")))).asInteger() == 0)
            let held = try await fixture.dump().values["q:q:held:normal:h0"] ?? []
            #expect(held.count { $0.hasPrefix("j") } == total - 1)
            for count in 1...20 {
                #expect(try await fixture.settle(jobs[0], QueueFixture.fetched(jobs[0].entry.url)) == .settled)
                jobs = try await fixture.claim(1, hostLimit: 1).jobs
                #expect(jobs.map(\.entry.id) == [QueueFixture.id(count)])
                let dump = try await fixture.dump()
                #expect(dump.values["q:q:ready:normal"] == nil)
                let lean = { (line: [String]) in line.filter { $0.hasPrefix("j") } }
                #expect(lean(dump.values["q:q:held:normal:h0"] ?? []) == Array(lean(held).dropFirst(count)))
            }
            try await fixture.expectSound()
        }
    }

    #if canImport(Glibc)
    @Test(arguments: 1...4)
    func `a job that came back between the jobs of one chunk leaves all of them readable`(limit: Int) async throws {
        try await QueueFixture.withClock { fixture, clock in
            // Both chunks come at the same moment, so that their jobs have one heading.
            clock.stop()
            let number = try await fixture.queue.begin(batch: "b").number
            func add(_ range: Range<Int>) async throws {
                let entries = try range.map { try QueueFixture.entry($0) }
                _ = try await fixture.queue.enqueue(
                    entries, batch: number, from: range.lowerBound, to: range.upperBound, closing: range.upperBound == 20)
            }
            try await add(0..<10)
            let first = try await fixture.claim(2, hostLimit: 2).jobs
            #expect(try await fixture.claimAll(1, hostLimit: 1).isEmpty)
            // The retry comes to stand behind the other jobs of its chunk, because it is due and its host has no room.
            #expect(try await fixture.settle(first[0], .retry(after: .zero)) == .settled)
            _ = try await fixture.claim(1, hostLimit: 1)
            try await add(10..<20)
            #expect(try await fixture.claimAll(1, hostLimit: 1).isEmpty)
            // Most of the list is read, and put back.
            #expect(try await fixture.settle(first[1], QueueFixture.fetched("u")) == .settled)
            for job in try await fixture.claim(200, hostLimit: 2).jobs {
                #expect(try await fixture.settle(job, QueueFixture.fetched("u")) == .settled)
            }
            let line = try await fixture.dump().values["q:q:held:normal:h0"] ?? []
            #expect(line.map { $0.prefix(1) }.joined() == "h" + String(repeating: "j", count: 6) + "Jh" + String(repeating: "j", count: 10))
            try await fixture.claimAll(limit) { _ = try await fixture.settle($0, QueueFixture.fetched($0.entry.url)) }
            #expect(try await fixture.dump().values["q:q:foreign"] == nil)
            let counts = try await fixture.queue.counts()
            #expect(counts.ready == 0 && counts.done == 20, "\(counts)")
        }
    }
    #endif

    @Test func `a job leaves a long list at the same cost as a short one`() async throws {
        var calls: [Int] = []
        for total in [100, 1000] {
            let server = try await RedisServer.start()
            try await QueueFixture.with(server) { fixture in
                try await fixture.fill(0..<total)
                let job = try await fixture.claim(1, hostLimit: 1).jobs[0]
                #expect(try await fixture.claimAll(1, hostLimit: 1).isEmpty)
                var next: [Job] = []
                let statistics = try await server.statistics {
                    _ = try await fixture.settle(job, QueueFixture.fetched("u"))
                    next = try await fixture.claim(1, hostLimit: 1).jobs
                }
                #expect(next.map(\.entry.id) == [QueueFixture.id(1)])
                calls.append(statistics.callsInScripts)
            }
            try await server.stop()
        }
        #expect(calls[0] == calls[1])
    }

    @Test func `the held lists of many hosts and priorities are all served to their end`() async throws {
        try await QueueFixture.with { fixture in
            for (index, priority) in Priority.allCases.enumerated() {
                var options = BatchOptions()
                options.priority = priority
                try await fixture.fill(index * 200..<index * 200 + 200, hosts: 40, batch: "\(priority)", options: options)
            }
            // At first all jobs but forty are held.
            let jobs = try await fixture.claim(1000, hostLimit: 1).jobs
            #expect(jobs.count == 40)
            for job in jobs { #expect(try await fixture.settle(job, QueueFixture.fetched(job.entry.url)) == .settled) }
            #expect(try await fixture.drain(hostLimit: 1).count == 560)
            try await fixture.expectEnded()
            #expect(try await fixture.dump().values["hosts"] == nil)
        }
    }

    @Test func `jobs of two queues share the places of one host`() async throws {
        try await QueueFixture.with { fixture in
            let other = fixture.cluster.queue("other")
            try await fixture.fill(0..<5)
            let number = try await other.begin(batch: "b").number
            _ = try await other.enqueue(try (10..<15).map { try QueueFixture.entry($0) }, batch: number, from: 0, to: 5, closing: true)
            func claim(_ queue: FetchQueue) async throws -> [Job] {
                var request = ClaimRequest(5, lease: QueueFixture.lease, nonce: Nonce(.random(in: .min ... .max)), worker: queue.name)
                request.host = HostRule(limit: 1)
                return try await queue.claim(request).jobs
            }
            var current = try await claim(fixture.queue)
            #expect(try await claim(other).isEmpty)
            for round in 0..<9 {
                let next = round % 2 == 0 ? other : fixture.queue
                #expect(try await fixture.settle(current[0], QueueFixture.fetched("u\(round)")) == .settled)
                current = try await claim(next)
                #expect(current.count == 1, "round \(round)")
            }
        }
    }
}
