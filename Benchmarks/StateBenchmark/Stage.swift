import BenchmarkKit
import GannetQueue
import GannetRedisClient
import GannetTestKit

/// The benchmark's own Redis, and its statistics.
struct Stage {
    let redis: RedisConnection
    let queue: FetchQueue
    let server: RedisServer

    static func start() async throws -> Stage {
        let server = try await RedisServer.start()
        let redis = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: server.socketPath)))
        try await redis.send(RedisCommand("CONFIG", "SET", "slowlog-max-len", "100000"))
        return Stage(redis: redis, queue: ClusterState(redis, namespace: "gannet").queue("default"), server: server)
    }

    func stop() async {
        await redis.close()
        try? await server.stop()
    }

    func clear() async throws { try await redis.send(RedisCommand("FLUSHALL", "SYNC")) }

    func usedMemory() async throws -> Int { Int(try await info("memory", "used_memory")) }

    /// The processor time that Redis needs for `body`, in microseconds.
    func cpuTime(_ body: () async throws -> Void) async throws -> Double {
        let before = try await cpuTime()
        try await body()
        return try await cpuTime() - before
    }

    private func cpuTime() async throws -> Double { (try await info("cpu", "used_cpu_user") + info("cpu", "used_cpu_sys")) * 1e6 }

    private func info(_ section: RedisArgument, _ field: String) async throws -> Double {
        let lines = try await redis.send(RedisCommand("INFO", section)).asString().split(whereSeparator: \.isNewline)
        let line = lines.first { $0.hasPrefix(field + ":") }
        guard let value = line.flatMap({ Double($0.dropFirst(field.count + 1)) }) else { throw KitError("Redis does not tell \(field)") }
        return value
    }

    /// The time of each script call in `body` inside the server, in microseconds.
    private func scriptTimes(_ body: () async throws -> Void) async throws -> [Double] {
        try await redis.send(RedisCommand("CONFIG", "SET", "slowlog-log-slower-than", "0"))
        try await redis.send(RedisCommand("SLOWLOG", "RESET"))
        try await body()
        try await redis.send(RedisCommand("CONFIG", "SET", "slowlog-log-slower-than", "-1"))
        return try await redis.send(RedisCommand("SLOWLOG", "GET", "-1")).asArray().compactMap { entry in
            let fields = try entry.asArray()
            return try fields[3].asArray().first?.asString() == "EVALSHA" ? Double(try fields[2].asInteger()) : nil
        }
    }

    /// Prints how many script calls `exchanges` makes, their time, and their times inside the server.
    func row(_ cells: [String], _ exchanges: () async throws -> Void) async throws {
        var elapsed = Duration.zero
        let times = try await scriptTimes {
            let start = ContinuousClock.now
            try await exchanges()
            elapsed = ContinuousClock.now - start
        }
        let figures = [grouped(times.count), seconds(elapsed), time(times.percentile(0.5)), time(times.max() ?? 0)]
        print("| \((cells + figures).joined(separator: " | ")) |")
    }
}
