import GannetRedisClient
import Testing

@testable import GannetQueue

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

    /// A batch of this number whose ledger ends at `offset`, as a producer may believe.
    private static func progress(_ number: Int, at offset: Int = 0) -> BatchProgress {
        BatchProgress(name: "b", number: number, source: "", offsets: [offset], totals: [0], state: .open, headers: RequestHeaders.none)
    }

    private static func acquisition(lease: Duration = QueueFixture.lease) -> AcquireRequest {
        AcquireRequest(id: QueueFixture.id(0), host: "h0", incarnation: Incarnation(1), nonce: 1, lease: lease)
    }

    private static func enqueue(_ queue: FetchQueue, _ count: Int = 1, to end: Int = 1, delay: Duration = .zero) async throws {
        var progress = progress(1)
        let row = (entry: try QueueFixture.entry(0), row: 1)
        _ = try await queue.enqueue([FetchQueue.NumberedJob](repeating: row, count: count), to: end, of: &progress, delay: delay)
    }

    @Test func `exchanges, chunks, names and rules out of range are refused, and nothing is written`() async throws {
        try await QueueFixture.with { fixture in
            let (queue, cluster) = (fixture.queue, fixture.cluster)
            for wanted in [-1, 257, .max] { await refused("wanted \(wanted)") { _ = try await fixture.claim(wanted) } }
            await refused("spare") { _ = try await fixture.claim(200) { $0.spare = 57 } }
            for lease in [Duration.zero, .seconds(-1), .seconds(24 * 3600 + 1)] {
                await refused("lease \(lease)") { _ = try await fixture.claim(1, lease: lease) }
                await refused("acquisition \(lease)") { _ = try await cluster.acquire(Self.acquisition(lease: lease)) }
            }
            for limit in [0, -1, 10_001] {
                await refused("host limit \(limit)") { _ = try await fixture.claim(1, hostLimit: limit) }
                await refused("rule \(limit)") { try await cluster.set(OperatorRule("h", limit: limit)) }
            }
            for interval in [Duration.seconds(-1), .seconds(24 * 3600 + 1), .seconds(Int64.max)] {
                await refused("interval \(interval)") {
                    _ = try await fixture.claim(1) { $0.host = HostRule(limit: 1, interval: interval, first: 1000) }
                }
                await refused("rule of \(interval)") { try await cluster.set(OperatorRule("h", interval: interval)) }
            }
            for pattern in ["", "H", "a/b", "*", "*.", "a b", String(repeating: "h", count: 256)] {
                await refused("rule for \(pattern)") { try await cluster.set(OperatorRule(pattern, limit: 1)) }
            }
            await refused("a rule for nothing") { try await cluster.set(OperatorRule("h")) }
            let settlement = Settlement(LockToken(counter: 1, incarnation: Incarnation(1)), QueueFixture.id(0), .handedBack)
            await refused("settlements") {
                _ = try await fixture.claim(0) { $0.settlements = [Settlement](repeating: settlement, count: 257) }
            }
            for end in [-1, 1 << 53] { await refused("offset \(end)") { try await Self.enqueue(queue, to: end) } }
            for delay in [Duration.seconds(-1), .seconds(365 * 24 * 3600 + 1)] {
                await refused("delay \(delay)") { try await Self.enqueue(queue, delay: delay) }
            }
            await refused("a long chunk") { try await Self.enqueue(queue, FetchQueue.largestChunk + 1) }
            for name in ["", "a\nb", "\u{0}", String(repeating: "n", count: 257)] {
                await refused("batch \(name)") { _ = try await queue.begin(batch: name) }
                await refused("queue \(name)") { _ = try await cluster.queue(name).begin(batch: "b") }
            }
            await refused("a queue named as if it were two") { _ = try await cluster.queue("a:batch").begin(batch: "count") }
            await refused("a long queue") { _ = try await cluster.queue(String(repeating: "n", count: 129)).begin(batch: "b") }
            await refused("a long source") { _ = try await queue.begin(batch: "b", from: String(repeating: "s", count: 8193)) }
            var options = BatchOptions()
            options.maximumAge = .seconds(-1)
            await refused("an age") { _ = try await queue.begin(batch: "b", options: options) }
            let written = try await fixture.dump().values
            #expect(written == [:])
        }
    }

    @Test func `durations and numbers beyond their bounds are cut, and none is a trap`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<4)
            let jobs = try await fixture.claim(4).jobs
            let forever = Duration.seconds(Int64.max)
            let content = OutcomeContent(url: "http://h0/0")
            #expect(try await fixture.settle(jobs[0], .fetched(content, Retention(fresh: forever, keep: forever))) == .settled)
            #expect(try await fixture.settle(jobs[1], .retry(content, after: forever)) == .settled)
            #expect(try await fixture.settle(jobs[2], .throttled(content, for: forever)) == .settled)
            #expect(try await fixture.settle(jobs[3], .fetched(content, Retention(fresh: .seconds(-5), keep: .seconds(-5)))) == .settled)
            #expect(try await fixture.cluster.outcome(QueueFixture.id(0), host: "h0")?.freshUntil ?? 0 > 0)
            for (index, random) in [-1, 2, .nan, .infinity].enumerated() {
                // Each job has its own host, because the others cool down.
                try await fixture.fill([10 + index], hosts: 100, batch: "random \(random)")
                let job = try #require(try await fixture.claim(1).jobs.first)
                let answer = try await fixture.claim(0) {
                    $0.random = random
                    $0.settlements = [Settlement(job.token, job.id, .throttled(content, for: nil))]
                }
                #expect(answer.verdicts == [.settled], "\(random)")
            }
            for age in [Duration.seconds(Int64.max), .seconds(Int64.min), .zero] {
                var request = Self.acquisition()
                request.maximumAge = age
                _ = try await fixture.cluster.acquire(request)
            }
            try await fixture.expectSound()
        }
    }

    @Test func `the error says whether a batch is unknown, complete or cancelled`() async throws {
        try await QueueFixture.with { fixture in
            func add(_ number: Int, from offset: Int) async throws {
                var progress = Self.progress(number, at: offset)
                let row = (entry: try QueueFixture.entry(0), row: offset + 1)
                _ = try await fixture.queue.enqueue([row], to: offset + 1, of: &progress)
            }
            await #expect(throws: StateError.batchLost(accepted: 0)) { try await add(77, from: 0) }
            await #expect(throws: StateError.unknownBatch) { try await fixture.queue.cancel(batch: 77) }
            let closed = try await fixture.fill([0])
            await #expect(throws: StateError.batchClosed) { try await add(closed, from: 1) }
            #expect(try await fixture.queue.cancel(batch: closed) == 1)
            await #expect(throws: StateError.batchCancelled) { try await add(closed, from: 1) }
        }
    }
}
