import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// Jobs that come back: after a failure, a rest of their host, or the death of their worker.
@Suite struct ReturningJobTests {
    private func with(_ body: (QueueFixture, MovableClock) async throws -> Void) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await body(fixture, clock)
        }
    }

    @Test func `more jobs that come back than one look finds all go before jobs that never ran`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<100, batch: "first")
            let jobs = try await fixture.claimAll(100)
            #expect(jobs.count == 100)
            try await fixture.fill(100..<300, batch: "second")
            let answer = try await fixture.claim(128) {
                $0.settlements = jobs.map { Settlement($0.token, $0.id, .handedBack, host: .none) }
            }
            #expect(answer.jobs.count == 128 && Set(answer.jobs.prefix(100).map(\.id)) == Set(jobs.map(\.id)))
        }
    }

    @Test func `a follower that needs a fetch of its own goes before jobs aside, also after a follower that has its answer`() async throws {
        try await with { fixture, clock in
            try await fixture.fill(0..<1)
            let job = try #require(try await fixture.claim(1, hostLimit: 1).jobs.first)
            clock.advance(by: .milliseconds(1))
            try await fixture.fill(0..<1, batch: "content")
            var options = BatchOptions()
            options.refresh = true
            try await fixture.fill(0..<1, batch: "refresh", options: options)
            #expect(try await fixture.claim(1, hostLimit: 2).jobs.isEmpty)
            try await fixture.fill(1..<2, batch: "aside")
            #expect(try await fixture.claim(1, hostLimit: 1).jobs.isEmpty)
            #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled)
            let jobs = try await fixture.claim(2, hostLimit: 1).jobs
            #expect(jobs.map(\.batchName) == ["content", "refresh"])
        }
    }

    @Test func `a job that stands aside goes before delayed jobs of its host, however many hosts are due before it`() async throws {
        try await with { fixture, clock in
            try await fixture.fill(0..<1)
            let first = try #require(try await fixture.claim(1, hostLimit: 1).jobs.first)
            #expect(try await fixture.settle(first, QueueFixture.retried(first.url, after: .seconds(1))) == .settled)
            try await fixture.fill(100..<101, hosts: 100, batch: "second")
            let second = try #require(try await fixture.claim(1, hostLimit: 1).jobs.first)
            var options = BatchOptions()
            options.delay = .seconds(3)
            try await fixture.fill(200..<300, hosts: 100, batch: "delayed", options: options)
            clock.advance(by: .seconds(2))
            #expect(try await fixture.claim(1, hostLimit: 1).jobs.isEmpty)
            clock.advance(by: .seconds(2))
            #expect(try await fixture.settle(second, QueueFixture.fetched(second.url)) == .settled)
            #expect(try await fixture.claim(1, hostLimit: 1).jobs.map(\.id) == [first.id])
        }
    }

    @Test func `a job that stands aside goes before jobs that never ran where a dead worker's place is taken back in the same call`()
        async throws
    {
        try await with { fixture, clock in
            try await fixture.fill(0..<3)
            let first = try #require(try await fixture.claim(1, hostLimit: 3, worker: "alive").jobs.first)
            #expect(try await fixture.claim(2, hostLimit: 3, worker: "dead").jobs.count == 2)
            #expect(try await fixture.settle(first, QueueFixture.retried(first.url, after: .seconds(20))) == .settled)
            for _ in 0..<5 {
                clock.advance(by: .seconds(5))
                _ = try await fixture.claim(1, hostLimit: 2, worker: "alive")
            }
            try await fixture.fill(3..<4, batch: "later")
            clock.advance(by: .seconds(5))
            // Two places are for the URLs of the dead worker, and the third is for the job that stood aside.
            let jobs = try await fixture.claim(3, hostLimit: 3, worker: "next").jobs
            #expect(jobs.count == 3 && jobs.contains { $0.id == first.id } && !jobs.contains { $0.id == QueueFixture.id(3) })
        }
    }

    @Test func `one call looks at a bounded part of what stands aside at a host`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill([0], batch: "first")
            let first = try #require(try await fixture.claim(1, hostLimit: 1).jobs.first)
            // Each is a block of its own.
            for number in 1...1200 { try await fixture.accept([try QueueFixture.entry(number)], batch: "gone", closing: false) }
            func aside() async throws -> Int { try await fixture.send("LLEN", fixture.queueKey("aside:normal:h0")).asInteger() }
            for _ in 0..<20 where try await aside() < 1200 { _ = try await fixture.claim(256, hostLimit: 1) }
            #expect(try await aside() == 1200)
            _ = try await fixture.queue.cancel(batch: "gone")
            #expect(try await fixture.settle(first, QueueFixture.fetched(first.url)) == .settled)
            let answer = try await fixture.claim(1, hostLimit: 1)
            #expect(try await (1...1000).contains(aside()) && answer.isMore && answer.jobs.isEmpty)
        }
    }

    @Test func `a worker gets no more URLs that another one died with than it wants`() async throws {
        try await with { fixture, clock in
            try await fixture.fill(0..<12)
            #expect(try await fixture.claim(12, hostLimit: 12, worker: "dead").jobs.count == 12)
            // Lease time passes only while somebody asks.
            for _ in 0..<8 {
                clock.advance(by: .seconds(5))
                #expect(try await fixture.claim(0, worker: "alive").jobs.isEmpty)
            }
            #expect(try await fixture.claim(12, hostLimit: 12, worker: "next").jobs.count == 8)
            for wanted in [1, 2] { #expect(try await fixture.claim(wanted, hostLimit: 12, worker: "other").jobs.count == wanted) }
        }
    }

    @Test func `hundreds of jobs for one dead URL make the attempts of one, also at a busy host`() async throws {
        try await with { fixture, clock in
            try await fixture.fill([0] + Array(repeating: 0, count: 300) + Array(1...20))
            var attempts = 0
            for _ in 0..<10 {
                guard let job = try await fixture.claim(1, hostLimit: 1).jobs.first, job.id == QueueFixture.id(0) else { break }
                attempts += 1
                #expect(job.failures == attempts - 1)
                if job.failures == 3 {
                    #expect(try await fixture.settle(job, QueueFixture.failed(job.url)) == .settled)
                    break
                }
                #expect(try await fixture.settle(job, QueueFixture.retried(job.url, after: .seconds(1))) == .settled)
                var other: Job?
                for _ in 0..<1000 where other == nil { other = try await fixture.claim(1, hostLimit: 1).jobs.first }
                clock.advance(by: .seconds(2))
                // The attempt is due, and its host is full.
                #expect(try await fixture.claim(1, hostLimit: 1).jobs.isEmpty)
                #expect(try await fixture.settle(try #require(other), QueueFixture.fetched("u")) == .settled)
            }
            #expect(attempts == 4)
        }
    }

    @Test func `a job that comes back goes before jobs that wait for the same host`() async throws {
        try await with { fixture, clock in
            try await fixture.fill(0..<1)
            let job = try #require(try await fixture.claim(1, hostLimit: 1).jobs.first)
            try await fixture.fill(1..<200, batch: "later")
            #expect(try await fixture.settle(job, QueueFixture.retried(job.url, after: .seconds(1))) == .settled)
            let second = try #require(try await fixture.claim(1, hostLimit: 1).jobs.first)
            #expect(try await fixture.claim(1, hostLimit: 1).jobs.isEmpty)
            clock.advance(by: .seconds(2))
            #expect(try await fixture.claim(1, hostLimit: 1).jobs.isEmpty)
            #expect(try await fixture.settle(second, QueueFixture.fetched(second.url)) == .settled)
            #expect(try await fixture.claim(1, hostLimit: 1).jobs.map(\.id) == [job.id])
        }
    }

    @Test func `a hundred jobs that come back together go before jobs that never ran`() async throws {
        try await with { fixture, _ in
            try await fixture.fill(0..<100, hosts: 100)
            #expect(try await fixture.claim(100).jobs.count == 100)
            try await fixture.fill(100..<200, hosts: 100, batch: "later")
            #expect(try await fixture.queue.reclaimAll() == 100)
            #expect(Set(try await fixture.claim(100).jobs.map(\.id)) == Set((0..<100).map(QueueFixture.id)))
        }
    }

    @Test func `a page that comes after its lease's end counts, while nobody else has begun`() async throws {
        try await with { fixture, clock in
            try await fixture.fill([0, 0])
            let job = try #require(try await fixture.claim(1).jobs.first)
            try await fixture.endLeases(clock)
            // The process goes on as another incarnation, and sends what it has.
            let late = try await fixture.claim(0, worker: "next life") {
                $0.settlements = [Settlement(job.token, job.id, QueueFixture.fetched(job.url))]
            }
            #expect(late.verdicts == [.settled])
            #expect(try await fixture.drain() == [])
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 2 && counts.fetched == 1 && counts.doubleFetches == 0 && counts.fenced == 0)
        }
    }

    @Test func `an outage of Redis charges no worker that comes back`() async throws {
        try await with { fixture, clock in
            try await fixture.fill(0..<8)
            for worker in ["one", "two"] { #expect(try await fixture.claim(4, worker: worker).jobs.count == 4) }
            clock.advance(by: .seconds(120))
            _ = try await fixture.claim(0, worker: "one")
            clock.advance(by: .seconds(4))
            _ = try await fixture.claim(0, worker: "one")
            #expect(try await fixture.claim(0, worker: "two").held == 4)
            #expect(try await fixture.queue.counts().crashed == 0)
        }
    }
}
