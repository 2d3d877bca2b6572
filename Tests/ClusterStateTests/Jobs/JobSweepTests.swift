import RedisClient
import Testing

@testable import ClusterState

/// Jobs are deleted and put back where they lie, a part at a time.
@Suite struct JobSweepTests {
    private static let all = 1 << 40

    /// Deletes jobs in parts, as a sweep over a list does. Returns how many jobs, and how many calls that took.
    private func delete(
        _ fixture: QueueFixture, _ list: JobList, host: String? = nil, looks: Int = 500, behind: Int = 500, limit: Int = all
    ) async throws -> (count: Int, calls: Int) {
        var (position, count, calls) = (Int?.none, 0, 0)
        repeat {
            let part = try await fixture.queue.delete(
                from: list, before: position, JobFilter(host: host), enqueuedUntil: 1 << 52, limit: limit - count, looks: looks,
                behind: behind)
            (position, count, calls) = (part.next, count + part.count, calls + 1)
            try #require(calls < 1000, "the list has no end")
        } while position != nil && count < limit
        return (count, calls)
    }

    @Test(arguments: [(3, 0), (3, 500), (7, 2), (500, 0), (500, 500)])
    func `jobs of a host are taken out of a list, and the others stay in their order`(looks: Int, behind: Int) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<40, hosts: 4, batch: "one")
            try await fixture.fill(40..<60, hosts: 2, batch: "two")
            let (count, calls) = try await delete(fixture, .ready("normal"), host: "h1", looks: looks, behind: behind)
            #expect(count == 20)
            // 60 jobs behind two headings.
            #expect(calls == (62 + looks - 1) / looks)
            let counts = try await fixture.queue.counts()
            #expect(counts.ready == 40 && counts.cancelled == 20)
            let left = (0..<60).filter { $0 % ($0 < 40 ? 4 : 2) != 1 }
            let claimed = try await fixture.claim(100).jobs.map(\.entry.id)
            #expect(claimed == left.map(QueueFixture.id))
        }
    }

    @Test func `no more jobs are deleted than asked for, the latest first`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<10)
            #expect(try await delete(fixture, .ready("normal"), limit: 3).count == 3)
            #expect(try await delete(fixture, .ready("normal"), behind: 0, limit: 2).count == 2)
            #expect(try await fixture.drain() == (0..<5).map(QueueFixture.id))
        }
    }

    @Test func `jobs enqueued after a moment are left alone`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<3)
            let part = try await fixture.queue.delete(
                from: .ready("normal"), before: nil, JobFilter(), enqueuedUntil: 1, limit: Self.all)
            #expect(part == JobSweep(count: 0, next: nil))
            #expect(try await fixture.queue.counts().ready == 3)
        }
    }

    @Test func `a batch whose last jobs are deleted has ended, and idle workers hear of the end`() async throws {
        try await QueueFixture.with { fixture in
            let batch = try await fixture.fill(0..<3)
            #expect(try await delete(fixture, .ready("normal")).count == 3)
            #expect(try await fixture.queue.batches([batch]).first?.isComplete == true)
            #expect(try await fixture.claim(5).left == .nothing)
            #expect(try await fixture.redis.send(RedisCommand("EXISTS", .string(fixture.key(queue: "ready:normal")))) == .integer(0))
            try await fixture.expectSound("deleted")
        }
    }

    @Test(arguments: [0, 500]) func `an element that a newer version wrote stays where it is`(behind: Int) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4)
            let key = RedisArgument.string(fixture.key(queue: "ready:normal"))
            try await fixture.redis.send(RedisCommand("LINSERT", key, "AFTER", .bytes(try QueueFixture.entry(1).bytes), "\u{2}newer"))
            #expect(try await delete(fixture, .ready("normal"), looks: 2, behind: behind).count == 2)
            let left = try await fixture.redis.send(RedisCommand("LRANGE", key, "0", "-1")).asArray().map { try $0.asBytes() }
            #expect(left.contains(Array("\u{2}newer".utf8)))
            // Behind this element, nobody here can tell under which heading a job stands.
            #expect(left.contains(try QueueFixture.entry(2).bytes))
            #expect(!left.contains(try QueueFixture.entry(0).bytes))
        }
    }

    @Test func `the end of a URL's fetch takes on no deleted followers`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([1, 1, 1])
            let job = try await fixture.claim(5).jobs[0]
            let list = try #require(try await fixture.queue.lists(of: .parked).first)
            #expect(try await delete(fixture, list).count == 2)
            #expect(try await fixture.settle(job, QueueFixture.fetched("http://h0/1")) == .settled)
            #expect(try await fixture.claim(5).left == .nothing)
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 1 && counts.cancelled == 2 && counts.parked == 0)
            try await fixture.expectSound("followers deleted")
        }
    }

    @Test func `a dead job that is put back is fetched as if it were new`() async throws {
        try await QueueFixture.with { fixture in
            let batch = try await fixture.fill(0..<3)
            let jobs = try await fixture.claim(3).jobs
            for job in jobs.dropLast() { _ = try await fixture.settle(job, QueueFixture.failed(job.entry.url)) }
            _ = try await fixture.settle(jobs[2], QueueFixture.fetched("u"))
            #expect(try await fixture.queue.batches([batch]).first?.isComplete == true)

            let sweep = try await fixture.queue.sweepDead(from: 0, JobFilter(), .retry, diedUntil: 1 << 52, limit: Self.all)
            #expect(sweep == JobSweep(count: 2, next: nil))
            let counts = try await fixture.queue.counts()
            #expect(counts.failed == 0 && counts.dead == 0 && counts.ready == 2)
            #expect(try await fixture.queue.batches([batch]).first?.isComplete == false)
            #expect(try await fixture.redis.send(RedisCommand("ZCARD", .string(fixture.key(queue: "ended")))) == .integer(0))
            // The job must not end at once with the outcome that was kept of its failure.
            #expect(Set(try await fixture.drain()) == [QueueFixture.id(0), QueueFixture.id(1)])
            #expect(try await fixture.queue.batches([batch]).first?.done == 3)
            try await fixture.expectSound("retried")
        }
    }

    @Test func `dead jobs are chosen by host and by error class`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<6, hosts: 2)
            for (index, job) in try await fixture.claim(6).jobs.enumerated() {
                var content = OutcomeContent(url: job.entry.url)
                content.fields = [.contentType: "t", .errorClass: index < 3 ? "dns" : "timeout", .errorMessage: "Because."]
                _ = try await fixture.settle(job, .failed(content, Retention(fresh: .zero, keep: .seconds(9))))
            }
            let dns = try await fixture.queue.lookAtDead(from: 0, JobFilter(errorClass: "dns"), limit: 10)
            #expect(dns.jobs.map(\.entry.id) == [2, 1, 0].map(QueueFixture.id))
            #expect(dns.jobs[0].error?.fields[.errorMessage] == "Because.")
            let filter = JobFilter(host: "h0", errorClass: "dns")
            #expect(
                try await fixture.queue.sweepDead(from: 0, filter, .delete, diedUntil: 1 << 52, limit: Self.all).count == 2)
            let counts = try await fixture.queue.counts()
            #expect(counts.dead == 4 && counts.failed == 6)
            #expect(
                try await fixture.queue.sweepDead(from: 0, JobFilter(host: "h1"), .retry, diedUntil: 1 << 52, limit: 2).count == 2)
        }
    }

    @Test func `a dead job of a cancelled batch stays dead`() async throws {
        try await QueueFixture.with { fixture in
            let batch = try await fixture.fill(0..<2)
            let job = try await fixture.claim(1).jobs[0]
            _ = try await fixture.settle(job, QueueFixture.failed(job.entry.url))
            #expect(try await fixture.queue.cancel(batch: batch) == 1)
            let sweep = try await fixture.queue.sweepDead(from: 0, JobFilter(), .retry, diedUntil: 1 << 52, limit: Self.all)
            #expect(sweep == JobSweep(count: 0, stuck: 1, next: nil))
            #expect(try await fixture.queue.counts().dead == 1)
        }
    }

    @Test func `a delayed job is due at once when an operator retries it`() async throws {
        try await QueueFixture.with { fixture in
            let number = try await fixture.queue.begin(batch: "b").number
            let entries = try (0..<4).map { try QueueFixture.entry($0, hosts: 2) }
            _ = try await fixture.queue.enqueue(entries, batch: number, from: 0, to: 4, closing: true, delay: .seconds(3600))
            #expect(try await fixture.claim(9).jobs.isEmpty)
            #expect(try await fixture.queue.sweepDelayed(from: 0, JobFilter(host: "h1"), .retry, limit: Self.all).count == 2)
            #expect(Set(try await fixture.drain()) == [QueueFixture.id(1), QueueFixture.id(3)])
            #expect(try await fixture.queue.sweepDelayed(from: 0, JobFilter(), .delete, limit: Self.all).count == 2)
            #expect(try await fixture.queue.batches([number]).first?.isComplete == true)
        }
    }
}
