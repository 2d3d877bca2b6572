import GannetRedisClient
import GannetTestKit
import Testing

@Suite struct ReplyCuttingProxyTests {
    @Test func `the server has done what was asked, and its answer is lost once`() async throws {
        let server = try await RedisServer.start()
        let proxy = try ReplyCuttingProxy(to: server)
        let redis = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: proxy.socketPath)))
        #expect(try await redis.send(RedisCommand("INCR", "n")).asInteger() == 1)
        proxy.cutNextReply()
        let error = await #expect(throws: RedisError.self) { try await redis.send(RedisCommand("INCR", "n")) }
        #expect(error?.kind == .connectionLost && error?.mayHaveExecuted == true)
        #expect(proxy.cuts == 1)
        #expect(try await redis.send(RedisCommand("GET", "n")).asString() == "2")
        #expect(proxy.cuts == 1)
        await redis.close()
        try await proxy.stop()
        try await server.stop()
    }

    @Test func `a script the server does not know is asked for again, and the answer to that is lost`() async throws {
        let server = try await RedisServer.start()
        let proxy = try ReplyCuttingProxy(to: server)
        let redis = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: proxy.socketPath)))
        proxy.cutNextReply()
        let error = await #expect(throws: RedisError.self) {
            try await redis.run(RedisScript("return redis.call('INCR', KEYS[1])"), keys: ["n"])
        }
        #expect(error?.kind == .connectionLost)
        #expect(try await server.command("GET", "n") == .text("1"))
        await redis.close()
        try await proxy.stop()
        try await server.stop()
    }
}
