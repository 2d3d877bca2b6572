import BenchmarkKit
import GannetTestKit

// `Scripts/bench path [--quick] [near|late]` and `Scripts/bench jobs [--quick]`: the program `gannet` as a user runs it, on a Redis of its own, beside
// peers that do the same work, in turn. Prints tables in Markdown.

let words = Array(CommandLine.arguments.dropFirst())
let isQuick = words.contains("--quick")
let parts = words.dropFirst().filter { $0 != "--quick" }
let start = ContinuousClock.now
let stage = try await Stage.start()
let rounds = isQuick ? 1 : 5
print(
    """
    `Scripts/bench \(words.joined(separator: " "))`, \(Machine.description), redis-server \(stage.redis.version) on a Unix socket; \
    medians of \(rounds) rounds, all in each round.
    """)
switch words.first {
case "path" where parts.allSatisfy { ["near", "late"].contains($0) }: try await WholePath(stage, rounds, isQuick).run(parts)
case "jobs" where parts.isEmpty: try await KnownOutcomes(stage, rounds, isQuick).run()
default: throw KitError("ProductBenchmark knows `path [--quick] [near|late]` and `jobs [--quick]`")
}
print("\nAll of it took \(seconds(ContinuousClock.now - start)).")
try await stage.redis.stop()
