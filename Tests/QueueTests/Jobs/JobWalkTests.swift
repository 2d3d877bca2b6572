import GannetRedisClient
import Testing

@testable import GannetQueue

/// Jobs are found wherever they lie, page by page, and dealt with by kind.
@Suite struct JobWalkTests {
    /// Jobs that are ready, aside for two hosts, and parked. All ready jobs are of `h`.
    private func prepare(_ fixture: QueueFixture) async throws {
        let entries = try ["a", "a", "a", "b", "b", "b", "h", "h"].enumerated().map {
            try JobEntry(id: QueueFixture.id($0.offset), host: $0.element, url: "http://\($0.element)/\($0.offset)")
        }
        let repeated = try JobEntry(id: QueueFixture.id(0), host: "a", url: "http://a/0")
        try await fixture.accept([repeated, repeated], closing: false)
        // The second job finds its URL locked, and follows it.
        #expect(try await fixture.claim(5).jobs.count == 1)
        try await fixture.accept(Array(entries[1..<6]), closing: false)
        // One job of each host is handed out, and the others find no room.
        #expect(try await fixture.claim(5, hostLimit: 1).jobs.count == 1)
        try await fixture.accept(Array(entries.suffix(2)))
    }

    private func all(_ fixture: QueueFixture, _ selection: JobSelection, limit: Int) async throws -> [Int] {
        var (found, cursor) = ([Int](), JobCursor?.some(JobCursor()))
        while let from = cursor {
            let page = try await fixture.queue.jobs(selection, from: from, limit: limit)
            #expect(page.jobs.count <= limit)
            found += page.jobs.map { Int($0.entry.id.bytes[7]) }
            try #require(found.count < 1000, "the list has no end")
            cursor = try page.next.map { try #require(JobCursor($0.text)) }
        }
        return found
    }

    @Test(arguments: [1, 2, 3, 100])
    func `every job is listed once, however long the pages`(limit: Int) async throws {
        try await QueueFixture.with { fixture in
            try await prepare(fixture)
            let counts = try await fixture.queue.counts()
            #expect(counts.active == 2 && counts.parked == 1 && counts.ready == 6)
            #expect(
                try await all(fixture, JobSelection(.ready), limit: limit) == [6, 7, 1, 2, 4, 5], "by host, in the order of their timers")
            #expect(try await all(fixture, JobSelection(.ready, JobFilter(host: "b")), limit: limit) == [4, 5])
            #expect(try await all(fixture, JobSelection(.parked), limit: limit) == [0])
            #expect(Set(try await all(fixture, JobSelection(.active), limit: limit)) == [0, 3])
            #expect(try await fixture.queue.count(JobSelection(.active), limit: 100).count == 2)
            #expect(try await fixture.queue.count(JobSelection(.ready), limit: 100).count == 6)
            #expect(try await fixture.queue.count(JobSelection(.ready), limit: 4).count == 4)
        }
    }

    @Test(arguments: [7, 100, 100_000])
    func `jobs aside for more hosts than one look reads, and in lists longer than that, are listed once`(limit: Int) async throws {
        try await QueueFixture.with { fixture in
            // Blocks of one job each, and then two jobs for each of many hosts.
            for number in 0..<700 { try await fixture.accept([try QueueFixture.entry(number * 150)], closing: false) }
            try await fixture.fill(0..<300, hosts: 150, batch: "many")
            #expect(try await fixture.claimAll(200, hostLimit: 1).count == 150)
            let ready = try await fixture.queue.counts().ready
            var (found, cursor) = ([ListedJob](), JobCursor?.some(JobCursor()))
            while let from = cursor {
                let page = try await fixture.queue.jobs(JobSelection(.ready), from: from, limit: limit)
                #expect(page.jobs.count <= limit)
                found += page.jobs
                try #require(found.count <= 1000, "the list has no end")
                cursor = page.next
            }
            #expect(ready > 800 && found.count == ready && Set(found.map { "\($0.batch) \($0.entry.url)" }).count == ready)
            let ofHost = JobSelection(.ready, JobFilter(host: "h0"))
            #expect(try await fixture.queue.count(ofHost).count == found.count { $0.entry.host == "h0" })
        }
    }

    @Test func `a job that waits for another attempt is listed with its last failure`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<1)
            var options = BatchOptions()
            options.delay = .seconds(60)
            try await fixture.fill(1..<2, batch: "late", options: options)
            let job = try #require(try await fixture.claim(1).jobs.first)
            #expect(try await fixture.settle(job, QueueFixture.retried(job.url, after: .seconds(60))) == .settled)
            let jobs = try await fixture.queue.jobs(JobSelection(.delayed), limit: 10).jobs
            #expect(Set(jobs.map { $0.error?.fields[.errorMessage] }) == ["It took too long.", nil] && jobs.count == 2)
        }
    }

    @Test func `a listing goes on behind a list that is gone`() async throws {
        try await QueueFixture.with { fixture in
            try await prepare(fixture)
            let page = try await fixture.queue.jobs(JobSelection(.ready), limit: 3)
            #expect(page.jobs.map(\.entry.host) == ["h", "h", "a"])
            #expect(try await fixture.queue.delete(JobSelection(.ready, JobFilter(host: "a")), limit: 9).count == 2)
            let rest = try await fixture.queue.jobs(JobSelection(.ready), from: try #require(page.next), limit: 9)
            #expect(rest.jobs.map(\.entry.host) == ["b", "b"])
        }
    }

    @Test func `ready, held and parked jobs are deleted, and the batch goes on with the rest`() async throws {
        try await QueueFixture.with { fixture in
            try await prepare(fixture)
            #expect(try await fixture.queue.delete(JobSelection(.ready), limit: 5).count == 5)
            #expect(try await fixture.queue.delete(JobSelection(.ready), limit: 5).count == 1)
            #expect(try await fixture.queue.delete(JobSelection(.parked), limit: 5).count == 1)
            #expect(try await fixture.queue.batch(named: "b")?.cancelled == 7)
            let counts = try await fixture.queue.counts()
            #expect(counts.ready == 0 && counts.parked == 0 && counts.active == 2)
            #expect(try await fixture.cluster.audit(mend: false) == [])
            await #expect(throws: StateError.self) { try await fixture.queue.delete(JobSelection(.active), limit: 5) }
            await #expect(throws: StateError.self) { try await fixture.queue.retry(JobSelection(.ready), limit: 5) }
        }
    }

    @Test func `the latest given-up jobs are kept, up to a number`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<30)
            for job in try await fixture.claim(30).jobs {
                let answer = try await fixture.claim(0) {
                    $0.mostDead = 10
                    $0.settlements = [Settlement(job.token, job.id, QueueFixture.failed(job.url), host: .answered)]
                }
                #expect(answer.verdicts == [.settled])
            }
            let counts = try await fixture.queue.counts()
            #expect(counts.failed == 30 && counts.dead == 10)
            #expect(Set(try await all(fixture, JobSelection(.dead), limit: 100)) == Set(20..<30))
            try await fixture.expectEnded()
        }
    }

    @Test(arguments: [
        "", "-", "1", "1-1", "1-2-3-4-5-zz", "1-2-3-4-5-", "-1-2-3-4-5-6", "1-2-3-4-5-9007199254740992", "1-2-3-4-5-+6", "1-2-3-4-5-06",
    ])
    func `a text that is not a cursor is refused`(text: String) { #expect(JobCursor(text) == nil) }

    @Test func `a cursor is read from its text`() {
        let cursor = JobCursor(partition: 2, priority: 1, list: 0, element: 55, job: 3, mark: 9)
        #expect(cursor.text == "2-1-0-55-3-9" && JobCursor(cursor.text) == cursor)
        #expect(JobCursor(JobCursor().text) == JobCursor())
    }

    @Test func `jobs of all partitions are listed and counted`() async throws {
        try await QueueFixture.with(partitions: 5) { fixture in
            try await fixture.fill(0..<100, hosts: 20)
            #expect(Set(try await all(fixture, JobSelection(.ready), limit: 7)) == Set(0..<100))
            #expect(try await fixture.queue.count(JobSelection(.ready)).count == 100)
            _ = try await fixture.claimAll(100)
            #expect(Set(try await all(fixture, JobSelection(.active), limit: 7)) == Set(0..<100))
        }
    }
}
