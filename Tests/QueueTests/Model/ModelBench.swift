import GannetRedisClient
import GannetTestKit

@testable import GannetQueue

/// A server, or a cluster, whose clock stands still unless it is moved. A bench serves one run after another.
final class ModelBench {
    static let namespace = "m"

    private let servers: [RedisServer]
    private let clock: MovableClock
    let redis: RedisConnection
    /// The servers' clock, ms.
    private(set) var wall: Int

    convenience init(_ options: RedisServer.Options = .init()) async throws {
        var options = options
        options.movableClock = true
        let server = try await RedisServer.start(options)
        try await self.init([server], server.clock, RedisConfiguration(address: .unix(path: server.socketPath)))
    }

    /// Three primaries. None counts as lost when the clock is moved.
    static func cluster() async throws -> ModelBench {
        let folder = try TemporaryFolder()
        let clock = try await MovableClock(in: folder)
        let cluster = try await RedisCluster.start(replicas: 0, nodeTimeout: .seconds(10_000_000)) { $0.sharedClock = clock }
        return try await ModelBench(cluster.nodes, clock, RedisConfiguration(url: cluster.url))
    }

    private init(_ servers: [RedisServer], _ clock: MovableClock, _ configuration: RedisConfiguration) async throws {
        (self.servers, self.clock) = (servers, clock)
        clock.stop()
        redis = try await RedisConnection.connect(configuration)
        let time = try await redis.send(RedisCommand("TIME")).asArray()
        wall = try Int(time[0].asString())! * 1000 + Int(time[1].asString())! / 1000
    }

    func close() async throws {
        await redis.close()
        for server in servers { try await server.stop() }
    }

    /// Removes all keys.
    func clear() async throws {
        for server in servers { try await server.ask("FLUSHALL") }
    }

    func advance(_ ms: Int) {
        clock.advance(by: .milliseconds(ms))
        wall += ms
    }

    /// Kills the server and starts it again. Returns when the connection is there again.
    func crash() async throws {
        for server in servers {
            try await server.kill9()
            try await server.restart()
        }
        // A call before the loss is noticed fails with that loss.
        try await eventually("Redis answers after its crash") {
            guard case .failure(let error) = await redis.pipeline([RedisCommand("PING")])[0] else { return true }
            guard error.kind == .connectionLost else { throw error }
            return false
        }
    }
}
