import BenchmarkKit
import GannetTestKit

// `Scripts/bench state`: what the state engine costs and how it bears large queues, on a Redis of its own. Prints tables in Markdown;
// Docs/REDIS.md holds the last. `--quick` does the same with a hundredth of the jobs, to see that it runs.

/// How much is measured.
struct Scale {
    let jobs: Int
    let deepest: Int
    let samples: Int
    let rounds: Int

    init(divisor: Int) {
        jobs = 1_000_000 / divisor
        deepest = 10_000_000 / divisor
        samples = divisor == 1 ? 2000 : 100
        rounds = divisor == 1 ? 5 : 1
    }

    /// How many jobs wait while calls are timed.
    var depths: [Int] { [10, 10_000, deepest] }
}

let isQuick = CommandLine.arguments.dropFirst() == ["--quick"]
guard isQuick || CommandLine.arguments.count == 1 else {
    throw KitError("StateBenchmark knows one option, --quick")
}
let scale = Scale(divisor: isQuick ? 100 : 1)
let start = ContinuousClock.now
let stage = try await Stage.start()
print(
    """
    `Scripts/bench state\(isQuick ? " --quick" : "")`, \(Machine.description), redis-server \(stage.server.version) on a Unix socket.
    "Server" is the time of a script inside Redis, from its slow log; the other times are the caller's.
    """)
try await Exchanges(stage: stage, scale: scale).run()
try await Depth(stage: stage, scale: scale).run()
try await BlockedHosts(stage: stage, scale: scale).run()
try await Followers(stage: stage, scale: scale).run()
print("\nAll of it took \(seconds(ContinuousClock.now - start)).")
await stage.stop()
