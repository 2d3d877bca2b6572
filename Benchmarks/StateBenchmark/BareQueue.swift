import GannetRedisClient
import GannetTestKit

/// The cheapest reliable queue: `LMOVE` takes a job, `SET` keeps its outcome, `LPOP` forgets that it was taken. Its keys are in a database
/// of their own.
struct BareQueue {
    private let stage: Stage
    private let redis: RedisConnection

    init(_ stage: Stage) async throws {
        self.stage = stage
        var configuration = RedisConfiguration(address: .unix(path: stage.server.socketPath))
        configuration.database = 1
        redis = try await RedisConnection.connect(configuration)
    }

    /// The processor time that Redis needs for a job, in microseconds, with so many jobs in each pipeline.
    func run(_ count: Int, _ jobsPerPipeline: Int) async throws -> Double {
        let url = String(repeating: "u", count: 56)
        let outcome = String(repeating: "o", count: 100)
        func send(_ commands: [RedisCommand]) async throws {
            for reply in await redis.pipeline(commands) { _ = try reply.get() }
        }
        for start in stride(from: 0, to: count, by: 1000) {
            try await send((start..<min(count, start + 1000)).map { _ in RedisCommand("LPUSH", "waiting", .string(url)) })
        }
        let used = try await stage.cpuTime {
            for start in stride(from: 0, to: count, by: jobsPerPipeline) {
                try await send(
                    (start..<min(count, start + jobsPerPipeline)).flatMap { number in
                        [
                            RedisCommand("LMOVE", "waiting", "taken", "RIGHT", "LEFT"),
                            RedisCommand("SET", .string("outcome:\(number)"), .string(outcome)), RedisCommand("LPOP", "taken"),
                        ]
                    })
            }
        }
        try await redis.send(RedisCommand("FLUSHDB", "SYNC"))
        return used / Double(count)
    }
}
