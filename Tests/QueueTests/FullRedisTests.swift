import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// A Redis whose memory is used up.
@Suite struct FullRedisTests {
    private func expectRefusal(_ what: String, _ body: () async throws -> Void) async {
        let error = await #expect(throws: StateError.self, "\(what)") { try await body() }
        #expect(error?.redis?.kind == .outOfMemory, "\(what): \(String(describing: error))")
        let sentence = error?.description ?? ""
        #expect(sentence.contains("memory") && sentence.hasSuffix("."), "\(what): \(sentence)")
    }

    @Test func `a full Redis refuses new jobs in a sentence, gives locks, and lets its jobs come to their end`() async throws {
        let server = try await RedisServer.start()
        try await QueueFixture.with(server) { fixture in
            try await fixture.fill(0..<8, hosts: 2)
            try await fixture.fill(0..<2, hosts: 2, batch: "followers")
            let begun = try await fixture.queue.begin(batch: "c")
            let rows = try (20..<30).map { (entry: try QueueFixture.entry($0), row: $0 - 19) }
            try await server.command("CONFIG", "SET", "maxmemory", "1")
            let before = try await fixture.dump()
            for delay in [Duration.zero, .seconds(9)] {
                await expectRefusal("a chunk") {
                    var progress = begun
                    _ = try await fixture.queue.enqueue(rows, to: 10, of: &progress, delay: delay)
                }
            }
            await expectRefusal("a batch") { _ = try await fixture.queue.begin(batch: "d") }
            #expect(try await fixture.dump().differences(from: before) == [])

            // Without its lock each process would fetch a URL.
            let id = QueueFixture.id(50)
            let answer = try await fixture.cluster.acquire(
                AcquireRequest(id: id, host: "h0", incarnation: Incarnation(1), nonce: 1, lease: QueueFixture.lease))
            guard case .leased(let token, _) = answer.fate else {
                Issue.record("no lock for a caller: \(answer.fate)")
                return
            }
            #expect(try await fixture.settle(token, id, QueueFixture.fetched("http://h0/50")) == .settled)

            // First one job for each outcome, then the rest.
            let jobs = try await fixture.claim(20).jobs
            #expect(jobs.count == 8)
            // A worker that finds nothing is answered as well, and may leave its inbox.
            for _ in 0..<2 {
                let idle = try await fixture.claim(8, worker: "idle") { $0.inbox = "idle" }
                #expect(idle.jobs.isEmpty && idle.held == 0)
            }
            let byURL = Dictionary(uniqueKeysWithValues: jobs.map { ($0.url, $0) })
            let outcomes: [(String, Settlement.Outcome)] = [
                ("http://h0/0", QueueFixture.fetched("http://h0/0")), ("http://h1/1", QueueFixture.failed("http://h1/1")),
                ("http://h0/2", .handedBack), ("http://h1/3", QueueFixture.retried("http://h1/3", after: .milliseconds(1))),
                ("http://h0/4", QueueFixture.fetched("http://h0/4")),
            ]
            for (url, outcome) in outcomes {
                let job = try #require(byURL[url])
                #expect(try await fixture.settle(job, outcome) == .settled)
            }
            try await fixture.queue.pause()
            try await fixture.queue.resume()
            #expect(try await fixture.queue.reclaimAll() == 3)
            try await eventually("the delayed job is fetched too") {
                try await fixture.work()
                return try await fixture.queue.counts().isEmpty
            }
            let counts = try await fixture.queue.counts()
            #expect(counts.done == 8 && counts.failed == 2 && counts.crashed == 0 && counts.cached == 1)
            try await fixture.expectEnded()
            #expect(try await fixture.queue.cancel(batch: begun.number) == 0)
            try await fixture.queue.clear()
        }
        try await server.stop()
    }

    /// Jobs would be lost to those who take the namespace for one with another number of partitions.
    @Test func `a new namespace whose number of partitions cannot be written is not used`() async throws {
        let server = try await RedisServer.start()
        try await server.command("CONFIG", "SET", "maxmemory", "1")
        let redis = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: server.socketPath)))
        await expectRefusal("a namespace") { _ = try await ClusterState.open(redis, namespace: "n", partitions: 64) }
        try await server.command("CONFIG", "SET", "maxmemory", "0")
        #expect(try await ClusterState.open(redis, namespace: "n", partitions: 64).partitions.count == 64)
        try await server.command("CONFIG", "SET", "maxmemory", "1")
        #expect(try await ClusterState.open(redis, namespace: "n", partitions: nil).partitions.count == 64)
        await redis.close()
        try await server.stop()
    }
}
