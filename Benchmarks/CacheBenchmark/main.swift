import BenchmarkKit

// `Scripts/bench cache [--quick] [hits|speed|memory|tiers|departures|lists]`: hit rates of the caches, and the cost of their calls.
// Prints tables in Markdown; Benchmarks/RESULTS.md holds them.

let words = CommandLine.arguments.dropFirst()
let isQuick = words.contains("--quick")
let parts = words.filter { !$0.hasPrefix("-") }
print("`Scripts/bench cache\(words.map { " " + $0 }.joined())`, \(Machine.description).")
// First, while the allocator has nothing to give again.
if parts.isEmpty || parts.contains("memory") { Overhead.measure() }
if parts.isEmpty || parts.contains("hits") { HitRates.measure(isQuick: isQuick) }
if parts.isEmpty || parts.contains("speed") { Speed.measure(isQuick: isQuick) }
if parts.isEmpty || parts.contains("tiers") { try await Tiers.measure(isQuick: isQuick) }
if parts.isEmpty || parts.contains("lists") { try await Lists.measure() }
if parts.isEmpty || parts.contains("departures") { try await Departures.measure(isQuick: isQuick) }
