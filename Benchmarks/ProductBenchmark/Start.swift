import BenchmarkKit
import GannetTestKit

/// How long programs take that have next to nothing to do.
struct Start {
    let stage: Stage
    let isQuick: Bool

    func run() async throws {
        let product = Product(stage: stage)
        let rounds = isQuick ? 3 : 41
        let list = stage.folder.file("few")
        try writeFile(list, 10) { "https://example.com/\($0)\n" }
        try await stage.clear()
        try await product.enqueue(list, count: 10)
        let commands: [(name: String, command: Command)] = [
            ("true", Command("true", [])),
            ("gannet --version", product.bare(["--version"])),
            ("gannet status", product.command(["status"])),
            ("gannet status --json", product.command(["status", "--json"])),
            ("curl --version", Command("curl", ["-q", "--version"])),
            ("aria2c --version", Command("aria2c", ["--version"])),
            ("redis-cli ping", Command("redis-cli", ["-s", stage.redis.socketPath, "ping"])),
            ("rq --version", try Peers.python("rq", ["--version"])),
        ]
        var ends = [[Command.End]](repeating: [], count: commands.count)
        for round in 1...rounds {
            if round == 1 { note("starts of \(commands.count) programs, \(rounds) rounds") }
            for (index, entry) in commands.enumerated() { ends[index].append(try await entry.command.run()) }
        }
        table(
            "Starts: from the order to start to the end, medians of \(rounds) rounds. `true` is the cost of starting any program here",
            "program", "time", "lowest to highest", "CPU", "memory")
        for (entry, own) in zip(commands, ends) {
            let times = own.map { $0.seconds * 1_000_000 }
            row(
                "`\(entry.name)`", time(times.median), "\(time(times.min() ?? 0)) to \(time(times.max() ?? 0))",
                time(own.map(\.usage.cpuTime.microseconds).median),
                memory(own.map(\.usage.peakMemory)))
        }
        try await stage.clear()
    }
}
