import GannetRedisClient
import GannetTestKit
import Testing

@Suite struct DelayingProxyTests {
    @Test func `commands and replies keep their order, and none is early`() async throws {
        let server = try await RedisServer.start()
        let proxy = try DelayingProxy(to: server, roundTrip: .milliseconds(20))
        let redis = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: proxy.socketPath)))
        let start = ContinuousClock.now
        let large = String(repeating: "x", count: 3 << 20)
        try await redis.send(RedisCommand("SET", "large", .string(large)))
        #expect(try await redis.send(RedisCommand("GET", "large")).asString() == large)
        for number in 1...3 { #expect(try await redis.send(RedisCommand("INCR", "n")).asInteger() == number) }
        // Five commands, one after another.
        let took = ContinuousClock.now - start
        #expect(took >= .milliseconds(100))
        await redis.close()
        try await proxy.stop()
        try await server.stop()
    }

    @Test func `the end of a connection passes through`() async throws {
        let server = try await RedisServer.start()
        let proxy = try DelayingProxy(to: server, roundTrip: .milliseconds(2))
        let redis = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: proxy.socketPath)))
        try await server.stop()
        await #expect(throws: RedisError.self) { try await redis.send(RedisCommand("INCR", "n")) }
        await redis.close()
        try await proxy.stop()
    }
}
