import BenchmarkKit
import ClusterState
import GannetTestKit
import RedisClient

/// The benchmark's own Redis, and its statistics.
struct Stage {
    let redis: RedisConnection
    let queue: FetchQueue
    private let server: RedisServer

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

    var version: String { server.version }
    var socketPath: String { server.socketPath }

    /// Empties Redis, and returns the memory that it still uses.
    func clear() async throws -> Int {
        try await redis.send(RedisCommand("FLUSHALL"))
        return try await usedMemory()
    }

    func usedMemory() async throws -> Int { Int(try await info("memory", "used_memory")) }

    /// Processor time of the server so far.
    func cpu() async throws -> Duration {
        .seconds(try await info("cpu", "used_cpu_user")) + .seconds(try await info("cpu", "used_cpu_sys"))
    }

    private func info(_ section: RedisArgument, _ field: String) async throws -> Double {
        let lines = try await redis.send(RedisCommand("INFO", section)).asString().split(whereSeparator: \.isNewline)
        let line = lines.first { $0.hasPrefix(field + ":") }
        return line.flatMap { Double($0.dropFirst(field.count + 1)) } ?? 0
    }

    /// The time of each script call in `body` inside the server, in microseconds, by the script's digest.
    func serverTimes(_ body: () async throws -> Void) async throws -> [[UInt8]: [Double]] {
        try await redis.send(RedisCommand("CONFIG", "SET", "slowlog-log-slower-than", "0"))
        try await redis.send(RedisCommand("SLOWLOG", "RESET"))
        try await body()
        try await redis.send(RedisCommand("CONFIG", "SET", "slowlog-log-slower-than", "-1"))
        var times: [[UInt8]: [Double]] = [:]
        for entry in try await redis.send(RedisCommand("SLOWLOG", "GET", "-1")).asArray() {
            let fields = try entry.asArray()
            let words = try fields[3].asArray()
            guard words.count > 1, try words[0].asString() == "EVALSHA" else { continue }
            times[try words[1].asBytes(), default: []].append(Double(try fields[2].asInteger()))
        }
        return times
    }
}
