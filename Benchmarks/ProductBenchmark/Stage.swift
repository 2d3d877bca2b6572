import BenchmarkKit
import GannetTestKit

/// The Redis of a measurement, and the folder of its files.
struct Stage: Sendable {
    let redis: RedisServer
    let folder: TemporaryFolder

    static func start() async throws -> Stage { Stage(redis: try await RedisServer.start(), folder: try TemporaryFolder()) }

    var url: String { "unix://\(redis.socketPath)" }

    /// The work of Redis.
    struct Work {
        let cpuTime: Duration
        let statistics: CommandStatistics
    }

    /// Measures the work of Redis while `body` runs.
    func work(_ body: () async throws -> Void) async throws -> Work {
        var cpuTime = Duration.zero
        let statistics = try await redis.statistics {
            let before = try await self.cpuTime()
            try await body()
            cpuTime = try await self.cpuTime() - before
        }
        return Work(cpuTime: cpuTime, statistics: statistics)
    }

    private func cpuTime() async throws -> Duration {
        .seconds(try await info("cpu", "used_cpu_user") + info("cpu", "used_cpu_sys"))
    }

    /// The memory that Redis' data takes now, in bytes.
    func usedMemory() async throws -> Int { Int(try await info("memory", "used_memory")) }

    private func info(_ section: String, _ field: String) async throws -> Double {
        let lines = try await redis.command("INFO", section).text?.split(whereSeparator: \.isNewline) ?? []
        let value = lines.first { $0.hasPrefix("\(field):") }.flatMap { Double($0.dropFirst(field.count + 1)) }
        guard let value else { throw KitError("Redis does not tell \(field)") }
        return value
    }

    func clear() async throws { try await redis.command("FLUSHALL", "SYNC") }

    /// The output of `redis-cli --pipe` for the commands in a file. It sends them all without waiting for replies.
    func pipe(_ commands: String) async throws {
        let outcome = try await bounded("redis-cli ends") {
            try await ChildProcess.run(.init("redis-cli", ["-s", redis.socketPath, "--pipe"], input: commands))
        }
        guard outcome.status == .exited(0), outcome.output.contains("errors: 0,") else {
            throw KitError("redis-cli failed: \(outcome.output)\(outcome.errors)")
        }
    }
}
