import BenchmarkKit
import GannetRedisClient

/// Our client, asked for the same work as the peer.
struct ClientUnderTest {
    private let connection: RedisConnection

    init(socketPath: String) async throws {
        connection = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: socketPath)))
    }

    func close() async { await connection.close() }

    /// `callers` tasks on one connection, each waiting for its reply before it sends the next command.
    func set(callers: Int, count: Int) async throws -> Measurement {
        let connection = connection
        return try await measure(count) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<callers {
                    group.addTask {
                        let key = RedisArgument.string("key:\(caller)")
                        for _ in 0..<(count / callers) { try await connection.send(RedisCommand("SET", key, "abc")) }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    func setLarge(bytes: Int, count: Int) async throws -> Measurement {
        let body = [UInt8](repeating: 7, count: bytes)
        return try await measure(count) {
            for _ in 0..<count { try await connection.send(RedisCommand("SET", "body", .bytes(body))) }
        }
    }

    private func measure(_ count: Int, _ work: () async throws -> Void) async throws -> Measurement {
        let cpu = cpuTime()
        let start = ContinuousClock.now
        try await work()
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        return Measurement(perSecond: Double(count) / elapsed, cpuMicroseconds: (cpuTime() - cpu) / .microseconds(1) / Double(count))
    }
}
