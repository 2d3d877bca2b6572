import RedisClient
import Testing

@testable import ClusterState

/// Jobs are found wherever they lie, page by page, and dealt with by kind.
@Suite struct JobWalkTests {
    /// Jobs that are ready, held for two hosts, and parked. All ready jobs are of `h`.
    private func prepare(_ fixture: QueueFixture) async throws {
        let number = try await fixture.queue.begin(batch: "b").number
        let entries = try ["a", "a", "a", "b", "b", "b", "h", "h"].enumerated().map {
            try JobEntry(id: QueueFixture.id($0.offset), host: $0.element, url: "http://\($0.element)/\($0.offset)")
        }
        let repeated = try JobEntry(id: QueueFixture.id(0), host: "a", url: "http://a/0")
        _ = try await fixture.queue.enqueue(entries.prefix(6) + [repeated], batch: number, from: 0, to: 7)
        // One job of each host is handed out, and the others find no room.
        var request = ClaimRequest(5, lease: .seconds(3600), nonce: Nonce(1), worker: "another")
        request.host = HostRule(limit: 1)
        #expect(try await fixture.queue.claim(request).jobs.count == 2)
        _ = try await fixture.queue.enqueue(Array(entries.suffix(2)), batch: number, from: 7, to: 9, closing: true)
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
            #expect(try await all(fixture, JobSelection(.ready), limit: limit) == [6, 7, 1, 2, 4, 5])
            #expect(try await all(fixture, JobSelection(.ready, JobFilter(host: "b")), limit: limit) == [4, 5])
            #expect(try await all(fixture, JobSelection(.parked), limit: limit) == [0])
            #expect(Set(try await all(fixture, JobSelection(.active), limit: limit)) == [0, 3])
            #expect(try await fixture.queue.count(JobSelection(.active), limit: 100) == 2)
            #expect(try await fixture.queue.count(JobSelection(.ready), limit: 100) == 6)
            #expect(try await fixture.queue.count(JobSelection(.ready), limit: 4) == 4)
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

    @Test(arguments: ["", "-", "1", "1-1", "1-zz", "-1-", "1-00-", "18446744073709551616-", "9007199254740992-", "1-+1"])
    func `a text that is not a cursor is refused`(text: String) { #expect(JobCursor(text) == nil) }

    @Test func `a cursor is read from its text`() {
        let cursor = JobCursor(list: [0, 15, 255], position: 12)
        #expect(cursor.text == "12-000fff" && JobCursor(cursor.text) == cursor)
        #expect(JobCursor("0-") == JobCursor())
    }
}
