import BenchmarkKit
import GannetTestKit

/// The versions of everything that takes part.
enum Versions {
    static func printTable(_ stage: Stage) async throws {
        let python = ["aiohttp", "uvloop", "img2dataset", "scrapy", "scrapy-redis", "rq"]
        let script = "import importlib.metadata as m, sys\nprint(sys.version.split()[0], *map(m.version, sys.argv[1:]))"
        let versions = try await Peers.python("python", ["-c", script] + python).run().output.split { $0.isWhitespace }.map(String.init)
        table("The programs that take part", "program", "version")
        row("gannet", try await first(Product(stage: stage).bare(["--version"])))
        row("redis-server", stage.redis.version)
        row("nginx", try await first(Command("nginx", ["-v"])))
        row("curl", try await first(Command("curl", ["-q", "--version"])))
        // It says so on standard output, and ends with 1.
        row("wrk", try await first(Command("sh", ["-c", "wrk -v; true"])))
        row("h2load", try await first(Command("h2load", ["--version"])))
        row("aria2c", try await first(Command("aria2c", ["--version"])))
        row("wget2", try await first(Command("wget2", ["--version"])))
        row("Sidekiq", try await first(Command("sidekiq", ["--version"])))
        for (name, version) in zip(["Python"] + python, versions) { row(name, version) }
        row("kernel", try await first(Command("uname", ["-sr"])))
    }

    private static func first(_ command: Command) async throws -> String {
        let end = try await command.run()
        return (end.output + end.errors).split(whereSeparator: \.isNewline).first.map(String.init) ?? "unknown"
    }
}
