import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// A long list lies in parts, and nobody notices. Here a part has three blocks of one job.
@Suite struct LongListTests {
    private static func with(_ body: (QueueFixture) async throws -> Void) async throws {
        try await QueueFixture.with(scripts: ClusterScripts(partBytes: 90), body)
    }

    /// Accepts jobs in chunks of one, so that each is a block.
    private static func fill(_ fixture: QueueFixture, _ entries: [JobEntry], batch: String = "b") async throws -> Int {
        var progress = try await fixture.queue.begin(batch: batch, options: .init())
        for (index, entry) in entries.enumerated() {
            _ = try await fixture.queue.enqueue(
                [(entry: entry, row: index + 1)], to: index + 1, of: &progress, closing: index + 1 == entries.count)
        }
        return progress.number
    }

    @Test func `no part is longer than it may be`() async throws {
        try await Self.with { fixture in
            _ = try await Self.fill(fixture, (0..<20).map { try QueueFixture.entry($0) })
            let list = try await fixture.cluster.look(at: [fixture.cluster.home.keys.ready(.normal, of: "q")])[0]
            #expect(list.parts.map(\.length) == [3, 3, 3, 3, 3, 3, 2])
            #expect(list.reading(2..<7).count == 3)
        }
    }

    @Test func `jobs are handed out in their order, and no part stays`() async throws {
        try await Self.with { fixture in
            _ = try await Self.fill(fixture, (0..<50).map { try QueueFixture.entry($0, hosts: 50) })
            #expect(try await fixture.drain() == (0..<50).map { QueueFixture.id($0) })
            #expect(try await fixture.dump().values.keys.filter { $0.contains("ready") } == [])
        }
    }

    @Test func `jobs that stand aside at their host keep their order`() async throws {
        try await Self.with { fixture in
            _ = try await Self.fill(fixture, (0..<50).map { try QueueFixture.entry($0) })
            let first = try await fixture.claim(1, hostLimit: 1).jobs
            try #require(first.count == 1)
            // The host has no room, so all others go aside.
            for _ in 0..<10 { _ = try await fixture.claim(8, hostLimit: 1) }
            let aside = try await fixture.cluster.look(at: [fixture.cluster.home.keys.aside(Array("h0".utf8), .normal, of: "q")])[0]
            #expect(aside.length > 20 && aside.parts.count > 5)
            #expect(try await fixture.settle(first[0], QueueFixture.fetched("u")) == .settled)
            #expect(try await fixture.drain(hostLimit: 1) == (1..<50).map { QueueFixture.id($0) })
            #expect(try await fixture.dump().values.keys.filter { $0.contains("aside") || $0.contains("ready") } == [])
        }
    }

    @Test func `duplicates of a URL end with it, however many they are`() async throws {
        try await Self.with { fixture in
            let number = try await Self.fill(fixture, (0..<40).map { _ in try QueueFixture.entry(7) })
            let first = try #require(try await fixture.claim(1).jobs.first)
            for _ in 0..<10 { _ = try await fixture.claim(20) }
            let explanation = try await fixture.cluster.explain(QueueFixture.id(7), host: "h0")
            #expect(explanation.followers == 39)
            #expect(try await fixture.settle(first, QueueFixture.fetched("u")) == .settled)
            #expect(try await fixture.drain() == [])
            let batch = try #require(try await fixture.queue.batches([number]).first)
            #expect(batch.done == 40)
            #expect(try await fixture.dump().values.keys.filter { $0.contains("followers") } == [])
        }
    }

    @Test func `the ids of ended jobs are read from any position`() async throws {
        try await Self.with { fixture in
            let number = try await Self.fill(fixture, (0..<40).map { try QueueFixture.entry($0, hosts: 40) })
            try await fixture.drain()
            #expect(try await fixture.queue.finishedCounts(ofBatch: number) == [40])
            let home = fixture.cluster.home
            let all = try await fixture.queue.finished(ofBatch: number, in: home, from: 0, through: 39).map(\.id)
            #expect(Set(all) == Set((0..<40).map { QueueFixture.id($0) }))
            for (first, last) in [(0, 0), (2, 3), (3, 3), (5, 20), (38, 50), (40, 41)] {
                let some = try await fixture.queue.finished(ofBatch: number, in: home, from: first, through: last).map(\.id)
                #expect(some == Array(all.dropFirst(first).prefix(last - first + 1)), "\(first) through \(last)")
            }
        }
    }

    @Test(arguments: [1, 4, 7, 100]) func `a listing shows each job once`(limit: Int) async throws {
        try await Self.with { fixture in
            _ = try await Self.fill(fixture, (0..<40).map { try QueueFixture.entry($0) })
            _ = try await fixture.claim(1, hostLimit: 1)
            for _ in 0..<3 { _ = try await fixture.claim(8, hostLimit: 1) }
            var listed: [URLID] = []
            var cursor: JobCursor? = JobCursor()
            while let from = cursor {
                let page = try await fixture.queue.jobs(JobSelection(.ready), from: from, limit: limit)
                listed += page.jobs.map(\.entry.id)
                cursor = page.next
            }
            #expect(listed.count == 39 && Set(listed).count == 39)
        }
    }

    @Test func `jobs are deleted from all parts, and from one alone`() async throws {
        try await Self.with { fixture in
            _ = try await Self.fill(fixture, (0..<30).map { try QueueFixture.entry($0, hosts: 2) }, batch: "one")
            _ = try await Self.fill(fixture, (30..<60).map { try QueueFixture.entry($0, hosts: 2) }, batch: "two")
            var filter = JobFilter()
            filter.host = "h1"
            let deleted = try await fixture.queue.delete(JobSelection(.ready, filter))
            #expect(deleted.count == 30)
            // The deletion may have left the first part empty.
            #expect(try await fixture.drain() == stride(from: 0, to: 60, by: 2).map { QueueFixture.id($0) })
            try await fixture.expectSound()
        }
    }

    @Test func `a first part whose jobs were all deleted is followed by the next`() async throws {
        try await Self.with { fixture in
            _ = try await Self.fill(fixture, (0..<3).map { try QueueFixture.entry($0) }, batch: "one")
            _ = try await Self.fill(fixture, (3..<9).map { try QueueFixture.entry($0, hosts: 1) }, batch: "two")
            let one = try #require(try await fixture.queue.number(ofBatch: "one"))
            var filter = JobFilter()
            filter.batch = one
            #expect(try await fixture.queue.delete(JobSelection(.ready, filter)).count == 3)
            #expect(try await fixture.drain() == (3..<9).map { QueueFixture.id($0) })
        }
    }

    @Test func `a queue that is cleared leaves no part`() async throws {
        try await Self.with { fixture in
            _ = try await Self.fill(fixture, (0..<40).map { try QueueFixture.entry($0) } + (0..<20).map { _ in try QueueFixture.entry(7) })
            let jobs = try await fixture.claim(9).jobs
            for job in jobs { _ = try await fixture.settle(job, QueueFixture.fetched("u")) }
            _ = try await fixture.claim(8, hostLimit: 1)
            try await fixture.queue.clear()
            #expect(try await fixture.dump().values.keys.filter { $0.hasPrefix("q:") } == [])
        }
    }

    @Test func `parts are no drift to an audit`() async throws {
        try await Self.with { fixture in
            _ = try await Self.fill(fixture, (0..<40).map { try QueueFixture.entry($0) })
            _ = try await fixture.claim(1, hostLimit: 1)
            for _ in 0..<5 { _ = try await fixture.claim(8, hostLimit: 1) }
            try await fixture.expectSound()
        }
    }
}
