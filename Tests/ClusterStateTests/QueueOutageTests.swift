#if canImport(Glibc)
import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

/// A queue whose server goes away in the middle of calls.
@Suite struct QueueOutageTests {
    private static let persistence = Persistence(patience: .seconds(30), pause: .milliseconds(5))

    private static func entry(_ number: Int) throws -> JobEntry {
        var bytes = [UInt8](repeating: 0, count: 16)
        withUnsafeBytes(of: number.bigEndian) { bytes.replaceSubrange(0..<8, with: $0) }
        return try JobEntry(id: URLID(bytes)!, host: "h", url: "http://h/\(number)")
    }

    /// A claim with its own nonce, by a worker with its own name.
    private static func request(_ limit: Int) -> ClaimRequest {
        let random = UInt64.random(in: .min ... .max)
        var request = ClaimRequest(limit, lease: .seconds(600), nonce: Nonce(random), worker: "\(random)")
        request.host = HostRule(limit: 1000)
        return request
    }

    private static func fetched(_ job: Job, bytes: Int) -> Settlement {
        Settlement(job.token, job.id, .fetched(OutcomeContent(url: job.url), Retention(fresh: .zero, keep: .seconds(60))), bytes: bytes)
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
        let queue = ClusterState(redis, namespace: "t").queue("q", Self.persistence)
        let chunks = 60
        let size = 10
        let batch = try await queue.begin(batch: "b", from: "").number
        let (accepted, acceptance) = AsyncStream.makeStream(of: Int.self)

        let producer = Task { () async throws in
            defer { acceptance.finish() }
            for chunk in 0..<chunks {
                let numbers = chunk * size..<(chunk + 1) * size
                let answer = try await queue.enqueue(
                    try numbers.map(Self.entry), batch: batch, from: numbers.lowerBound, to: numbers.upperBound)
                #expect(answer.offset == numbers.upperBound)
                acceptance.yield(chunk)
            }
        }
        let worker = Task { () async throws -> Int in
            var settled = 0
            var request = Self.request(10)
            try await eventually("half of the jobs are settled", within: .seconds(60)) {
                do {
                    let jobs = try await queue.claim(request).jobs
                    request = Self.request(10)
                    for job in jobs {
                        #expect(try await queue.settle(Self.fetched(job, bytes: 1)) == .settled)
                        settled += 1
                    }
                } catch let error as StateError where error.isTransient {
                    // The same request brings the jobs of a lost reply.
                }
                return settled >= chunks * size / 2
            }
            return settled
        }
        for await chunk in accepted where [10, 25, 40].contains(chunk) {
            try await server.kill9()
            try await server.restart()
        }
        try await producer.value
        _ = try await worker.value

        while true {
            let claim = try await queue.claim(Self.request(500))
            if claim.jobs.isEmpty { break }
            for job in claim.jobs { #expect(try await queue.settle(Self.fetched(job, bytes: 1)) == .settled) }
        }
        let counts = try await queue.counts()
        #expect(counts.enqueued == chunks * size)
        #expect(counts.done == chunks * size)
        #expect(counts.bytes == chunks * size)
        #expect(counts.failed == 0 && counts.crashed == 0 && counts.isEmpty)
        await redis.close()
        try await server.stop()
    }

    @Test func `an outcome that was accepted without a reply is not taken for a lost lease`() async throws {
        let server = try await RedisServer.start()
        let redis = try await Self.connect(to: server, timeout: .milliseconds(300))
        let queue = ClusterState(redis, namespace: "t").queue("q", Self.persistence)
        let batch = try await queue.begin(batch: "b", from: "").number
        _ = try await queue.enqueue([Self.entry(1)], batch: batch, from: 0, to: 1)
        let job = try #require(try await queue.claim(Self.request(1)).jobs.first)
        // The call is sent, and carried out once the server goes on. By then the connection has been given up.
        server.pause()
        async let accepted = queue.settle(Self.fetched(job, bytes: 7))
        await #expect(throws: RedisError.self) { try await redis.send(RedisCommand("PING")) }
        server.resume()
        #expect(try await accepted == .settled)
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
#endif
