import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// A queue whose server goes away in the middle of calls.
@Suite struct QueueOutageTests {
    private static let persistence = Persistence(patience: .seconds(30), pause: .milliseconds(5))

    private static func entry(_ number: Int) throws -> JobEntry {
        var bytes = [UInt8](repeating: 0, count: 16)
        withUnsafeBytes(of: number.bigEndian) { bytes.replaceSubrange(0..<8, with: $0) }
        return try JobEntry(id: URLID(bytes)!, host: "h", url: "http://h/\(number)")
    }

    /// An exchange of a process of its own.
    private static func request(_ wanted: Int) -> ExchangeRequest {
        var request = ExchangeRequest(.random(), number: 1, lease: .seconds(600))
        request.host = HostRule(limit: 1000, first: 1000)
        request.wanted = wanted
        return request
    }

    private static func fetched(_ job: Job, bytes: Int) -> Settlement {
        let retention = Retention(fresh: .zero, keep: .seconds(60))
        return Settlement(job.token, job.id, .fetched(OutcomeContent(url: job.url), retention), bytesFetched: bytes)
    }

    private static func connect(to server: RedisServer, timeout: Duration = .seconds(10)) async throws -> RedisConnection {
        var configuration = RedisConfiguration(address: .unix(path: server.socketPath))
        configuration.commandTimeout = timeout
        configuration.longestBackoff = .milliseconds(50)
        return try await RedisConnection.connect(configuration)
    }

    @Test func `chunks and outcomes under way in a crash are neither doubled nor lost`() async throws {
        let server = try await RedisServer.start(
            .init { $0.appendOnly = true })
        let redis = try await Self.connect(to: server)
        let cluster = ClusterState(redis, namespace: "t")
        let queue = cluster.queue("q", Self.persistence)
        let chunks = 60
        let size = 10
        let begun = try await queue.begin(batch: "b")
        let (accepted, acceptance) = AsyncStream.makeStream(of: Int.self)

        let producer = Task { () async throws in
            defer { acceptance.finish() }
            var progress = begun
            for chunk in 0..<chunks {
                let numbers = chunk * size..<(chunk + 1) * size
                let rows = try numbers.map { (entry: try Self.entry($0), row: $0 + 1) }
                _ = try await queue.enqueue(rows, to: numbers.upperBound, of: &progress)
                #expect(progress.offset == numbers.upperBound)
                acceptance.yield(chunk)
            }
        }
        let worker = Task { () async throws in
            var settled = 0
            var request = Self.request(10)
            try await eventually("all jobs are settled", within: .seconds(60)) {
                do {
                    let answer = try #require(try await queue.exchange(request, in: cluster.home))
                    #expect(answer.verdicts == request.settlements.map { _ in .settled })
                    settled += answer.verdicts.count
                    request.number += 1
                    request.settlements = answer.jobs.map { Self.fetched($0, bytes: 1) }
                } catch let error as StateError where error.isTransient {
                    // The same exchange again brings what a lost reply said.
                }
                return settled == chunks * size
            }
        }
        for await chunk in accepted where [10, 25, 40].contains(chunk) {
            try await server.kill9()
            try await server.restart()
        }
        try await producer.value
        try await worker.value

        let counts = try await queue.counts()
        #expect(counts.enqueued == chunks * size)
        #expect(counts.done == chunks * size)
        #expect(counts.bytes == chunks * size)
        #expect(counts.failed == 0 && counts.crashed == 0 && counts.doubleFetches == 0 && counts.isEmpty)
        await redis.close()
        try await server.stop()
    }

    @Test func `an outcome that was accepted without a reply is not taken for a lost lock`() async throws {
        let server = try await RedisServer.start()
        let redis = try await Self.connect(to: server, timeout: .milliseconds(300))
        let cluster = ClusterState(redis, namespace: "t")
        let queue = cluster.queue("q", Self.persistence)
        var progress = try await queue.begin(batch: "b")
        _ = try await queue.enqueue([(entry: try Self.entry(1), row: 1)], to: 1, of: &progress, closing: true)
        var request = Self.request(1)
        let job = try #require(try await queue.exchange(request, in: cluster.home)?.jobs.first)
        request.number += 1
        request.settlements = [Self.fetched(job, bytes: 7)]
        // The call is sent, and carried out once the server goes on. By then the connection has been given up.
        server.pause()
        await #expect(throws: StateError.self) { try await queue.exchange(request, in: cluster.home) }
        server.resume()
        let again = request
        #expect(try await Self.persistence { try await queue.exchange(again, in: cluster.home) }?.verdicts == [.settled])
        let counts = try await queue.counts()
        #expect(counts.done == 1 && counts.fetched == 1 && counts.bytes == 7 && counts.doubleFetches == 0 && counts.isEmpty)
        await redis.close()
        try await server.stop()
    }

    @Test func `a caller that is cancelled during an outage returns at once`() async throws {
        let server = try await RedisServer.start()
        let redis = try await Self.connect(to: server)
        let queue = ClusterState(redis, namespace: "t").queue("q", Persistence())
        try await server.stop()
        let task = Task { () async throws in try await queue.counts() }
        task.cancel()
        let error = await #expect(throws: StateError.self) { try await task.value }
        guard case .redis(let reason) = error else { return #expect(Bool(false), "it was another error") }
        #expect(reason.kind == .cancelled)
        await redis.close()
    }
}
