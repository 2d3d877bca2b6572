import GannetTestKit

/// The cheapest reliable queue: `LMOVE` takes a job, `SET` keeps its outcome, `LPOP` forgets that it was taken. All commands are pipelined.
struct BareQueue {
    let stage: Stage

    /// Redis' processor time for so many jobs.
    func run(_ count: Int) async throws -> Duration {
        let outcome = String(repeating: "o", count: 100)
        let filling = stage.folder.file("filling")
        let working = stage.folder.file("working")
        try writeFile(filling, count) { Self.command("LPUSH", "waiting", "http://127.0.0.1/a/path/of/usual/length/\($0)") }
        try writeFile(working, count) {
            Self.command("LMOVE", "waiting", "taken", "RIGHT", "LEFT") + Self.command("SET", "outcome:\($0)", outcome)
                + Self.command("LPOP", "taken")
        }
        try await stage.clear()
        try await stage.pipe(filling)
        return try await stage.work { try await stage.pipe(working) }.cpuTime
    }

    /// Redis' processor time for so many bodies, each a key of its own. A worker that keeps bodies in Redis cannot have it for less.
    func keepBodies(_ count: Int, size: Int) async throws -> Duration {
        try await stage.clear()
        return try await stage.work {
            let words = [
                "-s", stage.redis.socketPath, "-t", "set", "-d", "\(size)", "-n", "\(count)", "-r", "1000000000", "-c", "1", "-P", "16",
            ]
            _ = try await bounded("redis-benchmark ends") { try await ChildProcess.succeed("redis-benchmark", words + ["-q"]) }
        }.cpuTime
    }

    private static func command(_ words: String...) -> String {
        "*\(words.count)\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
    }
}
