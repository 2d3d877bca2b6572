import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// A queue that nobody uses any more does not keep its memory for ever.
@Suite struct AbandonedQueueTests {
    private static let day = Duration.seconds(86_400)

    private func with(_ body: (QueueFixture, MovableClock) async throws -> Void) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await body(fixture, clock)
        }
    }

    /// Calls of a worker of another queue, which has nothing to do: some at once, and some each day.
    private func passBy(_ fixture: QueueFixture, _ clock: MovableClock? = nil, days: Int = 0) async throws {
        let other = QueueFixture(
            redis: fixture.redis, cluster: fixture.cluster, queue: fixture.cluster.queue("other"), namespace: fixture.namespace)
        for day in 0...days {
            if day > 0 { clock?.advance(by: Self.day) }
            for _ in 0..<40 { _ = try await other.claim(1, worker: "passer-by") }
        }
    }

    private func keys(of fixture: QueueFixture) async throws -> [String] {
        try await fixture.dump().values.keys.filter { $0.hasPrefix("q:q:") }.sorted()
    }

    /// Jobs of every kind, none of them in flight.
    private func abandon(_ fixture: QueueFixture) async throws {
        var options = BatchOptions()
        options.delay = .seconds(60)
        try await fixture.fill(0..<300, hosts: 150)
        try await fixture.fill(1000..<1010, batch: "delayed", options: options)
        let jobs = try await fixture.claim(3, hostLimit: 1).jobs
        #expect(try await fixture.settle(jobs[0], QueueFixture.retried("u", after: .seconds(1))) == .settled)
        #expect(try await fixture.settle(jobs[1], QueueFixture.failed("u")) == .settled)
        #expect(try await fixture.settle(jobs[2], .handedBack) == .settled)
    }

    @Test func `an abandoned queue goes after thirty days, with the calls of any worker`() async throws {
        try await with { fixture, clock in
            try await abandon(fixture)
            try await passBy(fixture, clock, days: 29)
            #expect(try await fixture.queue.counts().ready > 200)
            try await passBy(fixture, clock, days: 2)
            #expect(try await keys(of: fixture) == [])
            let left = try await fixture.dump().values
            #expect(left["locks"] == nil)
            #expect(left["hosts"]?.contains { $0.hasPrefix("?q=") } == false)
            try await fixture.expectSound()
            // A queue of the same name begins anew.
            try await fixture.fill(0..<5)
            #expect(try await fixture.drain().count == 5)
        }
    }

    @Test func `a clock that is a month ahead for a moment removes no queue`() async throws {
        try await with { fixture, clock in
            try await abandon(fixture)
            clock.advance(by: Self.day * 31)
            try await passBy(fixture)
            clock.advance(by: .zero - Self.day * 31)
            try await passBy(fixture, clock, days: 2)
            #expect(try await fixture.queue.counts().ready > 200)
        }
    }

    @Test func `callers without a queue remove an abandoned queue too`() async throws {
        try await with { fixture, clock in
            try await abandon(fixture)
            for number in 5000..<8200 {
                if number.isMultiple(of: 100) { clock.advance(by: Self.day) }
                let id = QueueFixture.id(number)
                let caller = UInt64(number)
                let answer = try await fixture.cluster.acquire(
                    AcquireRequest(id: id, host: "h0", incarnation: Incarnation(caller), nonce: caller, lease: QueueFixture.lease))
                guard case .leased(let token, _) = answer.fate else {
                    Issue.record("\(answer)")
                    continue
                }
                #expect(try await fixture.settle(token, id, QueueFixture.fetched("u")) == .settled)
            }
            #expect(try await keys(of: fixture) == [])
        }
    }

    @Test(arguments: ["begin", "enqueue", "exchange", "pause", "cancel", "retry"])
    func `a queue that was used lately stays`(use: String) async throws {
        try await with { fixture, clock in
            try await abandon(fixture)
            clock.advance(by: Self.day * 20)
            switch use {
            case "begin": _ = try await fixture.queue.begin(batch: "b")
            case "enqueue": try await fixture.fill([7000], batch: "next")
            case "exchange": for _ in 0..<30 { _ = try await fixture.claim(0, worker: "new") }
            case "pause": try await fixture.queue.pause()
            case "cancel": _ = try await fixture.queue.cancel(batch: 2)
            default: _ = try await fixture.queue.retry(JobSelection(.dead))
            }
            try await passBy(fixture, clock, days: 20)
            #expect(try await fixture.queue.counts().ready > 200)
            try await passBy(fixture, clock, days: 11)
            #expect(try await keys(of: fixture) == [])
        }
    }

    @Test func `jobs with a long delay are kept until thirty days after it`() async throws {
        try await with { fixture, clock in
            var options = BatchOptions()
            options.delay = Self.day * 100
            try await fixture.fill([0], options: options)
            try await fixture.queue.pause()
            try await fixture.queue.resume()
            try await passBy(fixture, clock, days: 120)
            #expect(try await fixture.queue.counts().enqueued == 1)
            try await passBy(fixture, clock, days: 11)
            #expect(try await keys(of: fixture) == [])
        }
    }

    @Test func `a key of another type in an abandoned queue stops no worker of another`() async throws {
        try await with { fixture, clock in
            try await abandon(fixture)
            try await fixture.send("DEL", fixture.queueKey("timers:normal"))
            try await fixture.send("SET", fixture.queueKey("timers:normal"), "somebody's words")
            try await passBy(fixture, clock, days: 31)
            #expect(try await keys(of: fixture).contains("q:q:timers:normal"))
        }
    }

    @Test func `a batch whose producer died ends after a week, though nobody begins another`() async throws {
        try await with { fixture, clock in
            for index in 0..<20 {
                try await fixture.accept([try QueueFixture.entry(index)], batch: "left \(index)", closing: false)
            }
            try await fixture.drain()
            clock.advance(by: Self.day * 6)
            _ = try await fixture.claim(1)
            #expect(try await fixture.queue.batch(named: "left 0")?.state == .open)
            clock.advance(by: Self.day * 2)
            for _ in 0..<4 {
                _ = try await fixture.claim(1)
                clock.advance(by: .seconds(601))
            }
            for index in 0..<20 { #expect(try await fixture.queue.batch(named: "left \(index)")?.state == .complete) }
        }
    }
}
