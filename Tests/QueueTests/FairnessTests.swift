import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// Queues, priorities and callers get their turn.
@Suite struct FairnessTests {
    private func with(_ body: (QueueFixture, MovableClock) async throws -> Void) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await body(fixture, clock)
        }
    }

    @Test func `two queues at one host take turns`() async throws {
        try await with { fixture, clock in
            let queues = [fixture.queue, fixture.cluster.queue("other")]
            for (index, queue) in queues.enumerated() {
                var progress = try await queue.begin(batch: "b")
                let rows = try (0..<300).map { (entry: try QueueFixture.entry(index * 1000 + $0), row: $0 + 1) }
                _ = try await queue.enqueue(rows, to: 300, of: &progress, closing: true)
            }
            var (held, got, exchanges) = ([[Job]](repeating: [], count: 2), [0, 0], [0, 0])
            for _ in 0..<100 {
                for index in 0..<2 {
                    exchanges[index] += 1
                    var request = ExchangeRequest(Incarnation(UInt64(index + 1)), number: exchanges[index], lease: QueueFixture.lease)
                    request.host = HostRule(limit: 1, first: 1000)
                    request.wanted = 1
                    request.settlements = held[index].map { Settlement($0.token, $0.id, QueueFixture.fetched($0.url), host: .answered) }
                    let answer = try #require(try await queues[index].exchange(request, in: fixture.cluster.home))
                    held[index] = answer.jobs
                    got[index] += answer.jobs.count
                }
                clock.advance(by: .milliseconds(20))
            }
            #expect(got.min()! * 3 >= got.max()! && got.reduce(0, +) >= 60, "\(got)")
        }
    }

    @Test func `a job that never ran leaves a free place to the queue that waits for it`() async throws {
        try await with { fixture, _ in
            let other = QueueFixture(
                redis: fixture.redis, cluster: fixture.cluster, queue: fixture.cluster.queue("other"), namespace: fixture.namespace)
            try await fixture.fill([0])
            let job = try #require(try await fixture.claim(1, hostLimit: 1).jobs.first)
            try await other.fill([1])
            #expect(try await other.claim(1, hostLimit: 1, worker: "other").jobs.isEmpty)
            try await fixture.fill([2], batch: "later")
            let next = try await fixture.claim(1, hostLimit: 1) {
                $0.settlements = [Settlement(job.token, job.id, QueueFixture.fetched(job.url), host: .answered)]
            }
            #expect(next.jobs.isEmpty)
            #expect(try await other.claim(1, hostLimit: 1, worker: "other").jobs.count == 1)
        }
    }

    @Test func `a queue leaves half of a host's free places to the other queue that waits for them`() async throws {
        try await with { fixture, _ in
            let others = ["one", "two"].map { name in
                QueueFixture(
                    redis: fixture.redis, cluster: fixture.cluster, queue: fixture.cluster.queue(name), namespace: fixture.namespace)
            }
            try await fixture.fill(0..<6)
            let held = try await fixture.claim(6, hostLimit: 6).jobs
            #expect(held.count == 6)
            for (index, other) in others.enumerated() {
                try await other.fill(100 * index + 100..<100 * index + 110)
                #expect(try await other.claim(6, hostLimit: 6, worker: other.queue.name).jobs.isEmpty)
            }
            _ = try await fixture.claim(0, hostLimit: 6) {
                $0.settlements = held.map { Settlement($0.token, $0.id, QueueFixture.fetched($0.url), host: .answered) }
            }
            #expect(try await others[0].claim(6, hostLimit: 6, worker: "one").jobs.count == 3)
            #expect(try await !others[1].claim(6, hostLimit: 6, worker: "two").jobs.isEmpty)
        }
    }

    @Test func `a queue whose URL comes back at a host has taken its turn with it`() async throws {
        try await with { fixture, _ in
            let other = QueueFixture(
                redis: fixture.redis, cluster: fixture.cluster, queue: fixture.cluster.queue("other"), namespace: fixture.namespace)
            try await fixture.fill(0..<1)
            let job = try #require(try await fixture.claim(1, hostLimit: 1).jobs.first)
            try await fixture.fill(1..<3, batch: "later")
            try await other.fill(3..<5)
            #expect(try await fixture.claim(1, hostLimit: 1).jobs.isEmpty)
            #expect(try await other.claim(1, hostLimit: 1, worker: "other").jobs.isEmpty)
            let again = try await fixture.claim(1, hostLimit: 1) {
                $0.settlements = [Settlement(job.token, job.id, .handedBack, host: .none)]
            }
            #expect(again.jobs.map(\.id) == [job.id])
            let next = try await fixture.claim(1, hostLimit: 1) {
                $0.settlements = again.jobs.map { Settlement($0.token, $0.id, QueueFixture.fetched($0.url), host: .answered) }
            }
            #expect(next.jobs.isEmpty)
            #expect(try await other.claim(1, hostLimit: 1, worker: "other").jobs.map(\.id) == [QueueFixture.id(3)])
        }
    }

    @Test func `jobs that fall due wait for their priority's turn`() async throws {
        try await with { fixture, clock in
            var options = BatchOptions()
            options.priority = .low
            options.delay = .seconds(10)
            try await fixture.fill(0..<200, hosts: 200, batch: "low", options: options)
            options.priority = .high
            options.delay = .zero
            try await fixture.fill(1000..<1200, hosts: 200, batch: "high", options: options)
            clock.advance(by: .seconds(11))
            // The turns of normal jobs, of which there are none, fall to low ones.
            let first = try await fixture.claim(70).jobs
            let high = first.filter { $0.batchName == "high" }.count
            #expect(first.count == 70 && (40...45).contains(high), "\(high) of \(first.count)")
        }
    }

    @Test func `callers of the library take back what dead ones left, and wait no longer than a lease`() async throws {
        try await with { fixture, clock in
            func ask(_ number: Int, _ caller: UInt64) async throws -> AcquireAnswer {
                try await fixture.cluster.acquire(
                    AcquireRequest(
                        id: QueueFixture.id(number), host: "h0", incarnation: Incarnation(caller), nonce: caller, lease: QueueFixture.lease)
                )
            }
            for number in 0..<200 { _ = try await ask(number, UInt64(number + 1)) }
            var waited = Duration.zero
            while case .busy(let most) = try await ask(0, 5000).fate {
                clock.advance(by: most)
                waited += most
                try #require(waited < .seconds(300))
            }
            #expect(waited <= QueueFixture.lease + .seconds(5))
            for number in 0..<240 { _ = try await ask(number, 6000) }
            let leases = try #require(try await fixture.looks().first).leases
            #expect(leases.count { $0.value > 0 } < 5)
            // An hour later, those that have ended are forgotten as well.
            for _ in 0..<740 {
                clock.advance(by: .seconds(5))
                _ = try await fixture.claim(0)
            }
            for number in 0..<120 { _ = try await ask(number, 8000 + UInt64(number)) }
            for _ in 0..<80 {
                clock.advance(by: .seconds(5))
                _ = try await fixture.claim(0)
            }
            let later = try #require(try await fixture.looks().first).leases
            #expect(leases.count > 200 && later.count < 130 && Set(leases.keys).isDisjoint(with: later.keys))
        }
    }

    @Test func `a host without jobs, rule or rest is forgotten`() async throws {
        try await with { fixture, clock in
            try await fixture.fill(0..<100, hosts: 100)
            for job in try await fixture.claim(100).jobs {
                #expect(try await fixture.settle(job, QueueFixture.failed(job.url), host: .silent) == .settled)
            }
            #expect(try await fixture.hostNames().count == 100)
            clock.advance(by: .seconds(3601))
            for _ in 0..<40 { _ = try await fixture.claim(1) }
            #expect(try await fixture.hostNames() == [])
        }
    }
}
