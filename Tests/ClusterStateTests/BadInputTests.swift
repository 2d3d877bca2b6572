import RedisClient
import Testing

@testable import ClusterState

/// A value that no list, lock or counter could hold is refused in a sentence, before Redis hears of it.
@Suite struct BadInputTests {
    @Test(arguments: [
        ("h", ""), ("h", String(repeating: "u", count: 8193)), ("", "u"), (String(repeating: "h", count: 256), "u"), ("h\n", "u"),
        ("a b", "u"),
        ("h\u{0}", "u"), ("h\u{7f}", "u"), ("\t", "u"),
    ])
    func `a URL or host that the format cannot hold is refused`(host: String, url: String) {
        let error = #expect(throws: StateError.self) { try JobEntry(id: QueueFixture.id(0), host: host, url: url) }
        guard case .invalid(let sentence) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(sentence.hasSuffix(".") && !sentence.contains("\n"))
    }

    @Test func `the longest URL and the longest host are accepted`() throws {
        _ = try JobEntry(id: QueueFixture.id(0), host: String(repeating: "h", count: 255), url: String(repeating: "u", count: 8192))
        #expect(URLID([1, 2, 3]) == nil)
        #expect(URLID([UInt8](repeating: 0, count: 17)) == nil)
    }

    private func refused(_ what: String, _ body: () async throws -> Void) async {
        let error = await #expect(throws: StateError.self, "\(what)") { try await body() }
        guard case .invalid = error else {
            Issue.record("\(what): \(String(describing: error))")
            return
        }
    }

    @Test func `claims, chunks, names and rules out of range are refused, and nothing is written`() async throws {
        try await QueueFixture.with { fixture in
            let queue = fixture.queue
            for limit in [-1, 1001, .max] { await refused("limit \(limit)") { _ = try await fixture.claim(limit) } }
            for lease in [Duration.zero, .seconds(-1), .seconds(24 * 3600 + 1)] {
                await refused("lease \(lease)") { _ = try await fixture.claim(1, lease: lease) }
                await refused("renewal \(lease)") { _ = try await fixture.cluster.renew([LockToken([1])], lease: lease) }
                await refused("acquisition \(lease)") {
                    _ = try await fixture.cluster.acquire(AcquireRequest(id: QueueFixture.id(0), nonce: Nonce(1), lease: lease))
                }
            }
            for limit in [0, -1, 10_001] {
                await refused("host limit \(limit)") { _ = try await fixture.claim(1, hostLimit: limit) }
                await refused("rule \(limit)") { try await fixture.cluster.setRule(HostRule(limit: limit), for: "h") }
            }
            for interval in [Duration.seconds(-1), .seconds(24 * 3600 + 1), .seconds(Int64.max)] {
                let rule = HostRule(limit: 1, interval: interval)
                await refused("interval \(interval)") { _ = try await fixture.claim(1) { $0.host = rule } }
                await refused("rule of \(interval)") { try await fixture.cluster.setRule(rule, for: "h") }
            }
            let entry = try QueueFixture.entry(0)
            let settlement = Settlement(LockToken([1]), QueueFixture.id(0), .handedBack)
            await refused("settlements") { _ = try await queue.settle([Settlement](repeating: settlement, count: 1001), random: 0) }
            for (from, to) in [(-1, 0), (2, 1), (0, 1 << 53)] {
                await refused("offsets \(from) \(to)") { _ = try await queue.enqueue([entry], batch: 1, from: from, to: to) }
            }
            for delay in [Duration.seconds(-1), .seconds(365 * 24 * 3600 + 1)] {
                await refused("delay \(delay)") { _ = try await queue.enqueue([entry], batch: 1, from: 0, to: 1, delay: delay) }
            }
            await refused("a long chunk") {
                _ = try await queue.enqueue([JobEntry](repeating: entry, count: 1001), batch: 1, from: 0, to: 1)
            }
            for name in ["", "a\nb", "\u{0}", String(repeating: "n", count: 257)] {
                await refused("batch \(name)") { _ = try await queue.begin(batch: name) }
                await refused("queue \(name)") { _ = try await fixture.cluster.queue(name).begin(batch: "b") }
            }
            await refused("a queue named as if it were two") { _ = try await fixture.cluster.queue("a:batch").begin(batch: "count") }
            await refused("a long queue") { _ = try await fixture.cluster.queue(String(repeating: "n", count: 129)).begin(batch: "b") }
            await refused("a long source") { _ = try await queue.begin(batch: "b", from: String(repeating: "s", count: 8193)) }
            var options = BatchOptions()
            options.maximumAge = .seconds(-1)
            await refused("an age") { _ = try await queue.begin(batch: "b", options: options) }
            #expect(try await fixture.dump() == StateDump())
        }
    }

    @Test func `durations and numbers beyond their bounds are cut, and none is a trap`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4)
            let jobs = try await fixture.claim(4).jobs
            let forever = Duration.seconds(Int64.max)
            let content = OutcomeContent(url: "http://h0/0")
            #expect(try await fixture.settle(jobs[0], .fetched(content, Retention(fresh: forever, keep: forever))) == .settled)
            #expect(try await fixture.settle(jobs[1], .retry(after: forever)) == .settled)
            #expect(try await fixture.settle(jobs[2], .throttled(for: forever)) == .settled)
            #expect(try await fixture.settle(jobs[3], .fetched(content, Retention(fresh: .seconds(-5), keep: .seconds(-5)))) == .settled)
            #expect(try await fixture.cluster.outcome(QueueFixture.id(0))?.freshUntil ?? 0 > 0)
            for (index, random) in [-1, 2, .nan, .infinity].enumerated() {
                // Each job has its own host, because the others cool down.
                try await fixture.fill([10 + index], hosts: 100, batch: "random \(random)")
                let job = try #require(try await fixture.claim(1) { $0.host = HostRule(limit: 1, interval: .seconds(0)) }.jobs.first)
                let settlement = Settlement(job.token, job.entry.id, .throttled(for: nil))
                #expect(try await fixture.queue.settle([settlement], random: random) == [.settled], "\(random)")
            }
            for age in [Duration.seconds(Int64.max), .seconds(Int64.min), .zero] {
                var request = AcquireRequest(id: QueueFixture.id(0), nonce: Nonce(1), lease: QueueFixture.lease)
                request.maximumAge = age
                _ = try await fixture.cluster.acquire(request)
            }
            try await fixture.expectSound()
        }
    }

    @Test func `the error says whether a batch is unknown, complete or cancelled`() async throws {
        try await QueueFixture.with { fixture in
            let entry = try QueueFixture.entry(0)
            func add(_ number: Int, from: Int) async throws {
                _ = try await fixture.queue.enqueue([entry], batch: number, from: from, to: from + 1)
            }
            await #expect(throws: StateError.unknownBatch) { try await add(77, from: 0) }
            await #expect(throws: StateError.unknownBatch) { try await fixture.queue.cancel(batch: 77) }
            let closed = try await fixture.fill([0])
            await #expect(throws: StateError.batchClosed) { try await add(closed, from: 1) }
            #expect(try await fixture.queue.cancel(batch: closed) == 1)
            await #expect(throws: StateError.batchCancelled) { try await add(closed, from: 1) }
        }
    }
}
