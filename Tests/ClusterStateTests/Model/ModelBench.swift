import GannetTestKit
import RedisClient

@testable import ClusterState

#if canImport(Glibc)
/// A server whose clock stands still unless it is moved. A bench serves one run after another.
final class ModelBench {
    static let namespace = "m"

    let server: RedisServer
    let redis: RedisConnection
    /// The server's clock, ms.
    private(set) var wall: Int

    init(_ options: RedisServer.Options = .init()) async throws {
        var options = options
        options.movableClock = true
        server = try await RedisServer.start(options)
        server.clock.stop()
        redis = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: server.socketPath)))
        let time = try await redis.send(RedisCommand("TIME")).asArray()
        wall = try Int(time[0].asString())! * 1000 + Int(time[1].asString())! / 1000
    }

    func close() async throws {
        await redis.close()
        try await server.stop()
    }

    func advance(_ ms: Int) {
        server.clock.advance(by: .milliseconds(ms))
        wall += ms
    }

    /// Kills the server and starts it again. Returns when the connection is there again.
    func crash() async throws {
        try await server.kill9()
        try await server.restart()
        // A call before the loss is noticed fails with that loss.
        try await eventually("Redis answers after its crash") {
            guard case .failure(let error) = await redis.pipeline([RedisCommand("PING")])[0] else { return true }
            guard error.kind == .connectionLost else { throw error }
            return false
        }
    }
}
#endif
