import BenchmarkKit
import GannetTestKit

/// The program `gannet`, in processes of its own and with the settings of this file only.
struct Product: Sendable {
    let stage: Stage
    /// The Redis of the stage, unless the program reaches it by another way.
    var redis: String

    init(stage: Stage, redis: String? = nil) {
        self.stage = stage
        self.redis = redis ?? stage.url
    }

    /// It is built beside this benchmark.
    private static let program = CommandLine.arguments[0].replacing("ProductBenchmark", with: "gannet")

    /// How the workers of a run are set.
    struct Workers: Sendable {
        var count = 1
        var concurrency = 64
        var hostLimit = 8
        /// The certificate to trust.
        var authority: String?
        /// Further options.
        var options: [String] = []

        var words: [String] {
            ["--concurrency", "\(concurrency)", "--host-limit", "\(hostLimit)", "--allow-net", "127.0.0.0/8"] + options
                + (authority.map { ["--ca-file", $0] } ?? [])
        }
    }

    /// From the start of the first worker to the end of the last.
    struct Run {
        let seconds: Double
        /// Of all workers.
        let cpuTime: Duration
        /// Of the worker that had the most, in bytes.
        let peakMemory: Int
        let redis: Stage.Work
    }

    /// Enqueues the URLs of a file, of which there are this many.
    func enqueue(_ list: String, count: Int, _ options: String...) async throws {
        _ = try await enqueue(list, count, options)
    }

    /// The same with the cost of it.
    func enqueue(_ list: String, _ count: Int, _ options: [String]) async throws -> Command.End {
        let end = try await gannet(["enqueue", "--as-cache", "-i", list] + options)
        guard end.output.contains("Accepted \(count) URLs") else {
            throw KitError("gannet did not accept \(count) URLs: \(end.output)\(end.errors)")
        }
        return end
    }

    /// Works until the queue is empty. All of so many jobs have to end, each in the way that `total` names.
    func work(_ workers: Workers, _ count: Int, total: String) async throws -> Run {
        let before = try await number(total)
        var seconds = 0.0
        var usages: [ChildProcess.Usage] = []
        let redis = try await stage.work {
            let start = ContinuousClock.now
            usages = try await withThrowingTaskGroup(of: ChildProcess.Usage.self) { group in
                for _ in 0..<workers.count {
                    group.addTask {
                        try await gannet(["work", "--until-empty"] + workers.words).usage
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            seconds = (ContinuousClock.now - start) / .seconds(1)
        }
        let ended = try await number(total) - before
        guard ended == count else { throw KitError("of \(count) jobs \(ended) ended as \(total): \(try await status())") }
        return Run(
            seconds: seconds, cpuTime: usages.reduce(.zero) { $0 + $1.cpuTime }, peakMemory: usages.map(\.peakMemory).max() ?? 0,
            redis: redis)
    }

    /// Fetches a list into a folder, with `gannet run`.
    func fetch(_ list: String, into folder: String, _ workers: Workers) -> Command {
        command(["run", "-i", list, "-d", folder] + workers.words)
    }

    func status() async throws -> String { try await gannet(["status", "--json"]).output }

    /// The first number of that name in `gannet status --json`; zero where there is no such queue yet.
    func number(_ name: String) async throws -> Int {
        let parts = try await status().split(separator: "\"\(name)\":", maxSplits: 1)
        return parts.count == 2 ? Int(parts[1].prefix { $0.isNumber }) ?? 0 : 0
    }

    /// The program with these words, on its Redis.
    func command(_ arguments: [String]) -> Command { bare(arguments + ["--redis", redis]) }

    /// The program with these words alone.
    func bare(_ arguments: [String]) -> Command {
        // The peers ask no robots.txt.
        let environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": stage.folder.path, "GANNET_ROBOTS": "ignore"]
        return Command(Self.program, arguments, environment: environment)
    }

    private func gannet(_ arguments: [String]) async throws -> Command.End { try await command(arguments).run() }
}
