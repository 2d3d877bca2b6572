import BenchmarkKit
import GannetTestKit

// `Scripts/bench state`: what the state engine costs and how it bears large queues, on a Redis of its own. Prints tables in Markdown;
// Docs/REDIS.md holds the last. `--quick` does the same with a hundredth of the jobs, to see that it runs.

let isQuick = CommandLine.arguments.dropFirst() == ["--quick"]
guard isQuick || CommandLine.arguments.count == 1 else {
    throw KitError("StateBenchmark knows one option, --quick")
}
let scale = Scale(divisor: isQuick ? 100 : 1)
let start = ContinuousClock.now
let stage = try await Stage.start()
print(
    """
    `Scripts/bench state\(isQuick ? " --quick" : "")`, \(Machine.description), redis-server \(stage.version) on a Unix socket.
    "Server" is what the script took inside Redis, as its slow log has it; the other times are the caller's.
    """)
try await Throughput(stage: stage, scale: scale).run()
try await Depth(stage: stage, scale: scale).run()
try await BlockedHead(stage: stage, scale: scale).run()
try await Followers(stage: stage, scale: scale).run()
try await BareRedis(stage: stage, scale: scale).run()
print("\nAll of it took \(seconds(ContinuousClock.now - start)).")
await stage.stop()
