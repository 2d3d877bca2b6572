#if canImport(Glibc)
import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState
@testable import FetchQueue

/// A queue whose server goes away in the middle of things.
@Suite struct OutageTests {
    private static let persistence = Persistence(patience: .seconds(30), pause: .milliseconds(5))

    private static func url(_ number: Int) -> (id: URLID, url: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        withUnsafeBytes(of: number.bigEndian) { bytes.replaceSubrange(0..<8, with: $0) }
        return (URLID(bytes)!, "http://h/\(number)")
    }

    private static func connect(to server: RedisServer, timeout: Duration = .seconds(10)) async throws -> RedisConnection {
        var configuration = RedisConfiguration(address: .unix(path: server.socketPath))
        configuration.commandTimeout = timeout
        configuration.longestBackoff = .milliseconds(50)
        return try await RedisConnection.connect(configuration)
    }

    @Test func `chunks and outcomes under way in a crash are neither doubled nor lost`() async throws {
        let server = try await RedisServer.start(
            .init {
                $0.appendOnly = true
                $0.movableClock = true
            })
        let redis = try await Self.connect(to: server)
        let queue = FetchQueue(redis, namespace: "t", name: "q", persistence: Self.persistence)
        let chunks = 60
        let size = 10
        let (accepted, acceptance) = AsyncStream.makeStream(of: Int.self)

        let producer = Task { () async throws in
            defer { acceptance.finish() }
            for chunk in 0..<chunks {
                let numbers = chunk * size..<(chunk + 1) * size
                let progress = try await queue.enqueue(numbers.map(Self.url), batch: "b", from: numbers.lowerBound, to: numbers.upperBound)
                #expect(progress.offset == numbers.upperBound)
                acceptance.yield(chunk)
            }
        }
        let worker = Task { () async throws -> Int in
            var settled = 0
            while settled < chunks * size / 2 {
                do {
                    for job in try await queue.claim(10, lease: .seconds(600)).jobs {
                        #expect(try await queue.settle(job, .done, bytes: 1))
                        settled += 1
                    }
                } catch let error as RedisError where error.isTransient {
                    // Jobs of a lost reply come back when their lease ends.
                }
            }
            return settled
        }
        for await chunk in accepted where [10, 25, 40].contains(chunk) {
            try await server.kill9()
            try await server.restart()
        }
        try await producer.value
        _ = try await worker.value

        server.clock.advance(by: .seconds(601))
        while true {
            let claim = try await queue.claim(500, lease: .seconds(600))
            if claim.jobs.isEmpty { break }
            for job in claim.jobs { #expect(try await queue.settle(job, .done, bytes: 1)) }
        }
        let counts = try await queue.counts()
        #expect(counts.enqueued == chunks * size)
        #expect(counts.done == chunks * size)
        #expect(counts.bytes == chunks * size)
        #expect(counts.failed == 0 && counts.isEmpty)
        await redis.close()
        try await server.stop()
    }

    @Test func `an outcome that was accepted without a reply is not taken for a lost lease`() async throws {
        let server = try await RedisServer.start()
        let redis = try await Self.connect(to: server, timeout: .milliseconds(300))
        let queue = FetchQueue(redis, namespace: "t", name: "q", persistence: Self.persistence)
        _ = try await queue.enqueue([Self.url(1)], batch: "b", from: 0, to: 1)
        let job = try #require(try await queue.claim(1, lease: .seconds(60)).jobs.first)
        // Sent and, once the server goes on, carried out; by then the connection has been given up.
        server.pause()
        async let accepted = queue.settle(job, .done, bytes: 7)
        await #expect(throws: RedisError.self) { try await redis.send(RedisCommand("PING")) }
        server.resume()
        #expect(try await accepted)
        let counts = try await queue.counts()
        #expect(counts == QueueCounts(enqueued: 1, done: 1, bytes: 7))
        #expect(try await queue.settle(job, .done) == false)
        await redis.close()
        try await server.stop()
    }

    @Test func `a caller that is cancelled during an outage returns at once`() async throws {
        let server = try await RedisServer.start()
        let redis = try await Self.connect(to: server)
        let queue = FetchQueue(redis, namespace: "t", name: "q")
        try await server.stop()
        let task = Task { () async throws in try await queue.counts() }
        task.cancel()
        let error = await #expect(throws: RedisError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        await redis.close()
    }
}
#endif
