import BenchmarkKit
import GannetTestKit

// The program `gannet` as a user runs it, on a Redis of its own, beside peers that do the same work, in turn. `Scripts/bench` calls it with
// `path [--quick] [near|late|names]`, `jobs [--quick]`, `growth [--quick] [PART…]` or `peers [--quick] PART…`. Prints tables in Markdown.

let words = Array(CommandLine.arguments.dropFirst())
// A process of `Scripts/soak`, which has servers of its own.
if words.first == SoakReader.word { try await SoakReader.run(words) }
let isQuick = words.contains("--quick")
let parts = words.dropFirst().filter { $0 != "--quick" }
let start = ContinuousClock.now
let stage = try await Stage.start()
let rounds = isQuick ? 1 : 5
print(
    """
    `Scripts/bench \(words.joined(separator: " "))`, \(Machine.description), redis-server \(stage.redis.version) on a Unix socket; \
    \(words.first == "growth" ? "one run a row" : "medians of \(rounds) rounds, all in each round").
    """)
switch words.first {
case "path" where parts.allSatisfy { ["near", "late", "names"].contains($0) }: try await WholePath(stage, rounds, isQuick).run(parts)
case "jobs" where parts.isEmpty: try await KnownOutcomes(stage, rounds, isQuick).run()
case "growth" where parts.allSatisfy(Growth.parts.contains): try await Growth(stage, isQuick: isQuick).run(Array(parts))
case "peers": for part in parts { try await runPart(part) }
default:
    throw KitError(
        "ProductBenchmark knows `path [--quick] [near|late|names]`, `jobs [--quick]`, `growth [--quick] [PART…]` and `peers [--quick] PART…`"
    )
}
print("\nAll of it took \(seconds(ContinuousClock.now - start)).")
try await stage.redis.stop()

func runPart(_ part: String) async throws {
    switch part {
    case "versions": try await Versions.printTable(stage)
    case "images": try await Images(stage: stage, rounds: rounds, isQuick: isQuick).run()
    case "pages": try await Pages(stage: stage, rounds: rounds, isQuick: isQuick).run()
    case "enqueue": try await Enqueueing(stage: stage, rounds: rounds, isQuick: isQuick).run()
    case "start": try await Start(stage: stage, isQuick: isQuick).run()
    case "files": try await FilesInFolder(stage: stage, rounds: rounds, isQuick: isQuick).run()
    case "gateway": try await GatewayHits(stage: stage, rounds: rounds, isQuick: isQuick).run()
    case "thumbnails": try await Thumbnails(stage: stage, rounds: rounds, isQuick: isQuick).run()
    case "idle": try await Idle(stage: stage, rounds: rounds, isQuick: isQuick).run()
    default: throw KitError("there is no part \(part)")
    }
}
