import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// Jobs are deleted and put back where they lie, a part at a time.
@Suite(.timeLimit(.minutes(4))) struct JobSweepTests {
    /// Deletes jobs in calls that look at so many elements.
    private func sweep(
        _ fixture: QueueFixture, _ selection: JobSelection, _ action: JobSweep.Action = .delete, looks: Int = 500, latest: Int = 1 << 52,
        limit: Int = .max
    ) async throws -> JobSweep {
        var sum = JobSweep()
        for partition in fixture.cluster.partitions {
            var sweep = PartitionSweep(
                queue: fixture.queue, partition: partition, selection, action, after: sum, latest: latest, limit: limit)
            sweep.looks = looks
            try await sweep.run()
            sum = sweep.sum
        }
        return sum
    }

    @Test(arguments: [1, 3, 7, 500], [1, 3])
    func `jobs of a host are taken out, and the others stay in their order`(looks: Int, partitions: Int) async throws {
        try await QueueFixture.with(partitions: partitions) { fixture in
            try await fixture.fill(0..<40, hosts: 4, batch: "one")
            try await fixture.fill(40..<60, hosts: 2, batch: "two")
            #expect(try await sweep(fixture, JobSelection(.ready, JobFilter(host: "h1")), looks: looks).count == 20)
            let counts = try await fixture.queue.counts()
            #expect(counts.ready == 40 && counts.cancelled == 20)
            let claimed = try await fixture.claimAll(100).filter { $0.host == "h0" }.map(\.id)
            #expect(claimed == (0..<60).filter { $0 % ($0 < 40 ? 4 : 2) == 0 }.map(QueueFixture.id))
            #expect(try await fixture.cluster.audit(mend: false) == [])
        }
    }

    @Test func `jobs are deleted beside workers and a producer, and each ends once`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<800, hosts: 20, batch: "first")
            let deleted = try await withThrowingTaskGroup(of: Int.self) { group in
                for worker in ["one", "two"] {
                    group.addTask {
                        var left: ExchangeAnswer.Left?
                        while left != .nothing {
                            let answer = try await fixture.claim(8, hostLimit: 2, worker: worker)
                            for job in answer.jobs {
                                _ = try await fixture.settle(job, job.outcome == nil ? QueueFixture.fetched(job.url) : .delivered)
                            }
                            left = answer.left
                        }
                        return 0
                    }
                }
                group.addTask {
                    for number in 0..<20 { try await fixture.fill(number * 40..<number * 40 + 40, hosts: 20, batch: "more \(number)") }
                    return 0
                }
                group.addTask {
                    var count = 0
                    for state in [JobState.ready, .parked, .ready, .parked] {
                        count += try await fixture.queue.delete(JobSelection(state, JobFilter(host: "h3"))).count
                    }
                    return count
                }
                return try await group.reduce(0, +)
            }
            try await fixture.work()
            let counts = try await fixture.queue.counts()
            #expect(counts.cancelled == deleted && counts.done == 1600 - deleted && counts.isEmpty)
            #expect(try await fixture.cluster.audit(mend: false) == [])
        }
    }

    @Test func `no more jobs are deleted than asked for, the latest first, also those of a part of a block`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<10)
            #expect(try await sweep(fixture, JobSelection(.ready), limit: 3).count == 3)
            #expect(try await sweep(fixture, JobSelection(.ready), limit: 2).count == 2)
            #expect(try await fixture.drain() == (0..<5).map(QueueFixture.id))
        }
    }

    @Test(arguments: [1, 500]) func `one job is deleted out of its block, and the others stay in their order`(looks: Int) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<70)
            var filter = JobFilter(host: "h0")
            for number in [0, 33, 69] {
                filter.url = QueueFixture.id(number)
                #expect(try await sweep(fixture, JobSelection(.ready, filter), looks: looks).count == 1)
                #expect(try await sweep(fixture, JobSelection(.ready, filter), looks: looks).count == 0)
            }
            let counts = try await fixture.queue.counts()
            #expect(counts.ready == 67 && counts.cancelled == 3)
            #expect(try await fixture.cluster.audit(mend: false) == [])
            #expect(try await fixture.drain() == (0..<70).filter { ![0, 33, 69].contains($0) }.map(QueueFixture.id))
        }
    }

    @Test func `jobs with a text in their URLs are deleted, and no more than asked for`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<40, hosts: 2)
            var filter = JobFilter()
            filter.text = "/1"
            #expect(try await sweep(fixture, JobSelection(.ready, filter), limit: 3).count == 3)
            #expect(try await sweep(fixture, JobSelection(.ready, filter)).count == 8)
            let left = Set((0..<40).filter { !"\($0)".hasPrefix("1") }.map(QueueFixture.id))
            #expect(try await fixture.cluster.audit(mend: false) == [])
            #expect(Set(try await fixture.drain()) == left)
        }
    }

    @Test func `one parked job is deleted, and the job that fetches its URL goes on`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([1, 2, 1, 2])
            let jobs = try await fixture.claim(5).jobs
            #expect(jobs.count == 2)
            var filter = JobFilter(host: "h0")
            filter.url = QueueFixture.id(1)
            #expect(try await fixture.queue.delete(JobSelection(.parked, filter)).count == 1)
            #expect(try await fixture.queue.counts().parked == 1)
            for job in jobs { #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled) }
            try await fixture.work()
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 3 && counts.cancelled == 1 && counts.isEmpty)
            #expect(try await fixture.cluster.audit(mend: false) == [])
        }
    }

    @Test func `one job that waits for its retry is tried now or deleted, and the other waits on`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<3)
            for job in try await fixture.claim(3).jobs {
                _ = try await fixture.settle(job, .retry(OutcomeContent(url: job.url), after: .seconds(3600)))
            }
            #expect(try await fixture.queue.counts().delayed == 3)
            var filter = JobFilter(host: "h0")
            filter.url = QueueFixture.id(1)
            #expect(try await fixture.queue.retry(JobSelection(.delayed, filter)).count == 1)
            #expect(try await fixture.claim(5).jobs.map(\.id) == [QueueFixture.id(1)])
            filter.url = QueueFixture.id(2)
            #expect(try await fixture.queue.delete(JobSelection(.delayed, filter)).count == 1)
            let counts = try await fixture.queue.counts()
            #expect(counts.delayed == 1 && counts.cancelled == 1)
            #expect(try await fixture.cluster.audit(mend: false) == [])
        }
    }

    @Test(arguments: [JobSweep.Action.retry, .delete])
    func `one job of a delayed block is made due or deleted, and the others wait on`(action: JobSweep.Action) async throws {
        try await QueueFixture.with { fixture in
            var options = BatchOptions()
            options.delay = .seconds(3600)
            try await fixture.fill(0..<4, options: options)
            var filter = JobFilter(host: "h0")
            filter.url = QueueFixture.id(2)
            #expect(try await sweep(fixture, JobSelection(.delayed, filter), action).count == 1)
            #expect(try await fixture.claim(5).jobs.map(\.id) == (action == .retry ? [QueueFixture.id(2)] : []))
            #expect(try await fixture.queue.counts().delayed == 3)
            #expect(try await fixture.cluster.audit(mend: false) == [])
        }
    }

    @Test func `jobs enqueued after a moment are left alone`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<3)
            #expect(try await sweep(fixture, JobSelection(.ready), latest: 1) == JobSweep(count: 0))
            #expect(try await fixture.queue.counts().ready == 3)
        }
    }

    @Test func `a batch whose last jobs are deleted has ended, and nothing is left of them`() async throws {
        try await QueueFixture.with { fixture in
            let batch = try await fixture.fill(0..<3)
            #expect(try await fixture.queue.delete(JobSelection(.ready)).count == 3)
            #expect(try await fixture.queue.batches([batch]).first?.isComplete == true)
            #expect(try await fixture.claim(5).left == .nothing)
            #expect(try await fixture.redis.send(RedisCommand("EXISTS", .string(fixture.key(queue: "ready:normal")))) == .integer(0))
            #expect(try await fixture.cluster.audit(mend: false) == [])
        }
    }

    @Test(arguments: [1, 2, 500]) func `an element that cannot be read stays where it is`(looks: Int) async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4, hosts: 4)
            let key = RedisArgument.string(fixture.key(queue: "ready:normal"))
            let first = try await fixture.redis.send(RedisCommand("LINDEX", key, 1)).asBytes()
            try await fixture.redis.send(RedisCommand("LINSERT", key, "AFTER", .bytes(first), "\u{2}strange"))
            #expect(try await sweep(fixture, JobSelection(.ready), looks: looks).count == 4)
            let left = try await fixture.redis.send(RedisCommand("LRANGE", key, 0, -1)).asArray().map { try $0.asString() }
            #expect(left.filter { $0 != "t" } == ["\u{2}strange"] && left.last == "\u{2}strange")
        }
    }

    @Test func `the end of a URL's fetch takes on no deleted followers`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([1, 1, 1])
            let job = try await fixture.claim(5).jobs[0]
            #expect(try await fixture.queue.delete(JobSelection(.parked)).count == 2)
            #expect(try await fixture.settle(job, QueueFixture.fetched("http://h0/1")) == .settled)
            #expect(try await fixture.claim(5).left == .nothing)
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 1 && counts.cancelled == 2 && counts.parked == 0)
            #expect(try await fixture.cluster.audit(mend: false) == [])
        }
    }

    @Test func `followers that come after a sweep began are kept, and end with the URL's fetch`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([1, 1, 1])
            let job = try await fixture.claim(5).jobs[0]
            let latest = try await fixture.cluster.now()
            try await eventually("queue time has gone on") { try await fixture.cluster.now() > latest }
            try await fixture.fill([1, 1], batch: "late")
            #expect(try await fixture.claim(5).jobs.isEmpty)
            #expect(try await sweep(fixture, JobSelection(.parked), latest: latest).count == 2)
            #expect(try await fixture.settle(job, QueueFixture.fetched("http://h0/1")) == .settled)
            let rest = try await fixture.claimAll(5)
            #expect(rest.count == 2)
            for one in rest { #expect(try await fixture.settle(one, .delivered) == .settled) }
            #expect(try await fixture.claim(5).left == .nothing)
            #expect(try await fixture.cluster.audit(mend: false) == [])
        }
    }

    @Test(arguments: [1, 3]) func `a dead job that is put back is fetched as if it were new`(partitions: Int) async throws {
        try await QueueFixture.with(partitions: partitions) { fixture in
            let batch = try await fixture.fill(0..<3, hosts: 3)
            let jobs = try await fixture.claimAll(3)
            for job in jobs {
                _ = try await fixture.settle(job, job.host == "h2" ? QueueFixture.fetched("u") : QueueFixture.failed(job.entry.url))
            }
            #expect(try await fixture.queue.batches([batch]).first?.isComplete == true)

            #expect(try await fixture.queue.retry(JobSelection(.dead)) == JobSweep(count: 2))
            let counts = try await fixture.queue.counts()
            #expect(counts.failed == 0 && counts.dead == 0 && counts.ready == 2)
            #expect(try await fixture.queue.batches([batch]).first?.isComplete == false)
            // The job must not end at once with the outcome that was kept of its failure.
            #expect(Set(try await fixture.drain()) == [QueueFixture.id(0), QueueFixture.id(1)])
            #expect(try await fixture.queue.batches([batch]).first?.done == 3)
            #expect(try await fixture.cluster.audit(mend: false) == [])
        }
    }

    @Test func `dead jobs are chosen by host and by error class, and keep the attempts of their URL`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<6, hosts: 2)
            var jobs = try await fixture.claim(6).jobs
            #expect(try await fixture.settle(jobs[0], QueueFixture.retried(jobs[0].url, after: .zero)) == .settled)
            jobs[0] = try await fixture.claim(1).jobs[0]
            for job in jobs {
                var content = OutcomeContent(url: job.entry.url)
                let isEarly = job.id.bytes[7] < 3
                content.fields = [.contentType: "t", .errorClass: isEarly ? "dns" : "timeout", .errorMessage: "Because."]
                #expect(try await fixture.settle(job, .failed(content, Retention(fresh: .zero, keep: .seconds(9)))) == .settled)
            }
            let dns = try await fixture.queue.jobs(JobSelection(.dead, JobFilter(errorClass: "dns")), limit: 10).jobs
            #expect(Set(dns.map(\.entry.id)) == Set([2, 1, 0].map(QueueFixture.id)))
            #expect(dns.first?.error?.fields[.errorMessage] == "Because.")
            #expect(dns.first { $0.entry.id == jobs[0].id }?.failures == 2)
            #expect(try await fixture.queue.delete(JobSelection(.dead, JobFilter(host: "h0", errorClass: "dns"))).count == 2)
            let counts = try await fixture.queue.counts()
            #expect(counts.dead == 4 && counts.failed == 6)
            #expect(try await fixture.queue.retry(JobSelection(.dead, JobFilter(host: "h1")), limit: 2).count == 2)
        }
    }

    @Test func `a dead job of a cancelled batch stays dead`() async throws {
        try await QueueFixture.with { fixture in
            let batch = try await fixture.fill(0..<2)
            let job = try await fixture.claim(1).jobs[0]
            _ = try await fixture.settle(job, QueueFixture.failed(job.entry.url))
            #expect(try await fixture.queue.cancel(batch: batch) == 1)
            #expect(try await fixture.queue.retry(JobSelection(.dead)) == JobSweep(count: 0, stuck: 1))
            #expect(try await fixture.queue.counts().dead == 1)
        }
    }

    @Test func `delayed jobs are due at once when an operator retries them, and no more than asked for`() async throws {
        try await QueueFixture.with { fixture in
            var options = BatchOptions()
            options.delay = .seconds(3600)
            let number = try await fixture.accept(try (0..<8).map { try QueueFixture.entry($0, hosts: 2) }, options: options)
            #expect(try await fixture.claim(9).jobs.isEmpty)
            #expect(try await fixture.queue.retry(JobSelection(.delayed, JobFilter(host: "h1")), limit: 3).count == 3)
            #expect(Set(try await fixture.drain()) == Set([3, 5, 7].map(QueueFixture.id)))
            #expect(try await fixture.queue.delete(JobSelection(.delayed), limit: 2).count == 2)
            #expect(try await fixture.queue.counts().delayed == 3)
            #expect(try await fixture.queue.delete(JobSelection(.delayed)).count == 3)
            #expect(try await fixture.queue.batches([number]).first?.isComplete == true)
        }
    }

    @Test func `a retry that an operator makes due is carried on with its count, and a deleted one frees its URL`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([0, 1], hosts: 2)
            for job in try await fixture.claim(2).jobs {
                #expect(try await fixture.settle(job, QueueFixture.retried(job.url, after: .seconds(60))) == .settled)
            }
            #expect(try await fixture.claim(2).jobs.isEmpty)
            #expect(try await fixture.queue.retry(JobSelection(.delayed, JobFilter(host: "h0"))).count == 1)
            let again = try await fixture.claim(2).jobs
            #expect(again.map(\.failures) == [1] && again.map(\.id) == [QueueFixture.id(0)])
            #expect(try await fixture.queue.delete(JobSelection(.delayed)).count == 1)
            #expect(try await fixture.cluster.explain(QueueFixture.id(1), host: "h1").holder == nil)
            #expect(try await fixture.queue.counts().delayed == 0)
            #expect(try await fixture.cluster.audit(mend: false) == [])
        }
    }
}
