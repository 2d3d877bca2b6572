import BenchmarkKit
import GannetTestKit
import RedisClient

/// The limits of Redis on this machine, by `redis-benchmark`. Its commands keep none of the data that a queue needs.
struct BareRedis {
    let stage: Stage
    let scale: Scale

    func run() async throws {
        _ = try await stage.clear()
        let script = try await stage.redis.send(RedisCommand("SCRIPT", "LOAD", "return 0")).asString()
        let element = String(repeating: "x", count: 76)
        table(
            "`redis-benchmark` on the same server, for comparison", "work", "8 connections, 1 in flight each",
            "8 connections, 64 in flight each")
        for (name, command) in [
            ("EVALSHA of an empty script", ["EVALSHA", script, "0"]), ("LPUSH of 76 bytes", ["LPUSH", "line", element]),
            ("RPOPLPUSH of 76 bytes: a job moved, nothing else", ["RPOPLPUSH", "line", "taken"]),
        ] {
            row(name, rate(try await measure(command, inFlight: 1)), rate(try await measure(command, inFlight: 64)))
        }
    }

    private func measure(_ command: [String], inFlight: Int) async throws -> Double {
        let number = inFlight == 1 ? scale.jobs / 10 : scale.jobs
        let output = try await ChildProcess.succeed(
            "redis-benchmark", ["-s", stage.socketPath, "-c", "8", "-P", "\(inFlight)", "-n", "\(number)", "--csv"] + command)
        // The first line is "test","rps",… and the second has the command's name and figures. The name may contain commas.
        let fields = output.split(whereSeparator: \.isNewline).last?.split(separator: "\",\"") ?? []
        guard fields.count > 1, let rate = Double(fields[1]) else {
            throw KitError("redis-benchmark printed something else than expected: \(output)")
        }
        return rate
    }
}
