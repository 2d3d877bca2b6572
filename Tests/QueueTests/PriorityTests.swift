import GannetTestKit
import Testing

@testable import GannetQueue

/// High, normal and low priority are served six to three to one.
@Suite struct PriorityTests {
    private static func fill(
        _ fixture: QueueFixture, _ priority: Priority, _ numbers: Range<Int>, delay: Duration = .zero
    ) async throws {
        var options = BatchOptions()
        options.priority = priority
        options.delay = delay
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 1000) {
            let part = start..<min(start + 1000, numbers.upperBound)
            try await fixture.fill(part, hosts: 50, batch: "\(priority) \(start)", options: options)
        }
    }

    /// Expects that of a thousand jobs of each priority the next thousand are shared.
    private static func expectShares(_ fixture: QueueFixture, size: Int) async throws {
        var claimed = [0, 0, 0]
        var total = 0
        while total < 1000 {
            let jobs = try await fixture.claim(size).jobs
            try #require(jobs.count == size)
            for job in jobs { claimed[(Int(job.entry.id.bytes[6]) << 8 | Int(job.entry.id.bytes[7])) / 1000] += 1 }
            total += jobs.count
        }
        let expected = [0.1, 0.3, 0.6].map { $0 * Double(total) }
        for (found, wanted) in zip(claimed, expected) { #expect(abs(Double(found) - wanted) <= 0.05 * Double(total), "\(claimed)") }
    }

    @Test(arguments: [1, 10, 64])
    func `claims of any size are shared six to three to one`(size: Int) async throws {
        try await QueueFixture.with { fixture in
            try await Self.fill(fixture, .low, 0..<1000)
            try await Self.fill(fixture, .normal, 1000..<2000)
            try await Self.fill(fixture, .high, 2000..<3000)
            try await Self.expectShares(fixture, size: size)
        }
    }

    @Test(arguments: [1, 64])
    func `delayed jobs that fall due together are shared six to three to one`(size: Int) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await Self.fill(fixture, .low, 0..<1000, delay: .seconds(9))
            try await Self.fill(fixture, .normal, 1000..<2000, delay: .seconds(9))
            try await Self.fill(fixture, .high, 2000..<3000, delay: .seconds(9))
            clock.advance(by: .seconds(10))
            try await Self.expectShares(fixture, size: size)
        }
    }

    @Test func `retries of low priority that fall due do not pass jobs of high priority`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await Self.fill(fixture, .low, 0..<200)
            let failed = try await fixture.claim(200).jobs
            _ = try await fixture.claim(0) {
                $0.settlements = failed.map { Settlement($0.token, $0.id, QueueFixture.retried($0.url, after: .seconds(9))) }
            }
            try await Self.fill(fixture, .high, 1000..<1200)
            clock.advance(by: .seconds(10))
            let jobs = try await fixture.claim(70).jobs
            let retried = jobs.count { $0.failures == 1 }
            // Normal jobs leave their turns to low ones: four of ten.
            #expect(failed.count == 200 && jobs.count == 70 && (25...30).contains(retried), "\(retried) of \(jobs.count)")
        }
    }

    @Test(arguments: [1, 8])
    func `the places of one busy host are shared six to three to one, though far more jobs are wanted`(places: Int) async throws {
        try await QueueFixture.with { fixture in
            for (priority, first) in zip([Priority.low, .normal, .high], [0, 400, 800]) {
                var options = BatchOptions()
                options.priority = priority
                try await fixture.fill(first..<first + 400, batch: "\(priority)", options: options)
            }
            var (held, got) = ([Job](), [String: Int]())
            for _ in 0..<400 / places {
                held = try await fixture.claim(64, hostLimit: places) { [held] in
                    $0.settlements = held.map { Settlement($0.token, $0.id, QueueFixture.fetched($0.url), host: .answered) }
                }.jobs
                #expect(held.count == places)
                for job in held { got[job.batchName ?? "", default: 0] += 1 }
            }
            let close = [("high", 240), ("normal", 120), ("low", 40)].allSatisfy { abs(got[$0, default: 0] - $1) <= 8 }
            #expect(close, "\(got)")
        }
    }

    @Test func `queues that claim by turns are each shared six to three to one`() async throws {
        try await QueueFixture.with { fixture in
            let other = QueueFixture(
                redis: fixture.redis, cluster: fixture.cluster, queue: fixture.cluster.queue("other"), namespace: fixture.namespace)
            for (index, queue) in [fixture, other].enumerated() {
                for (priority, first) in zip(Priority.allCases, [0, 100, 200]) {
                    try await Self.fill(queue, priority, index * 300 + first..<index * 300 + first + 100)
                }
            }
            var low = [0, 0]
            for _ in 0..<20 {
                for (index, queue) in [fixture, other].enumerated() {
                    let jobs = try await queue.claim(5, worker: "w\(index)").jobs
                    try #require(jobs.count == 5)
                    low[index] += jobs.count { $0.batchName?.hasPrefix("low") == true }
                }
            }
            #expect(low == [10, 10])
        }
    }

    @Test func `one job of low priority is not starved by any number of high ones`() async throws {
        try await QueueFixture.with { fixture in
            try await Self.fill(fixture, .high, 0..<200)
            try await Self.fill(fixture, .low, 200..<201)
            var ids: [URLID] = []
            for _ in 0..<11 { ids += try await fixture.claim(1).jobs.map(\.entry.id) }
            #expect(ids.count == 11 && ids.contains(QueueFixture.id(200)))
        }
    }

    @Test(arguments: Priority.allCases)
    func `a priority that is alone is served whole, in the order in which its jobs came`(priority: Priority) async throws {
        try await QueueFixture.with { fixture in
            var options = BatchOptions()
            options.priority = priority
            try await fixture.fill(0..<20, options: options)
            #expect(try await fixture.claim(15).jobs.map(\.entry.id) == (0..<15).map(QueueFixture.id))
            #expect(try await fixture.claim(15).jobs.map(\.entry.id) == (15..<20).map(QueueFixture.id))
        }
    }
}
