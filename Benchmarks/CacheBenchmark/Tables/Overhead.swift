import BenchmarkKit
import GannetFetch

/// The memory an entry takes beside its key and value.
enum Overhead {
    static func measure() {
        table("Memory for an entry beside its key and value, in a cache that was filled three times over", "entries", "bytes")
        for entries in [100_000, 700_000, 1_000_000, 3_000_000] {
            let before = residentMemory()
            let cache = MemoryCache<Int, Int>(.init(costLimit: .max, countLimit: entries))
            for key in 0..<3 * entries { cache.insert(key, for: key, cost: 1) }
            row(grouped(cache.count), grouped((residentMemory() - before) / entries - 16))
        }
    }
}
