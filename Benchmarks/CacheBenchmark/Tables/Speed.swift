import BenchmarkKit
import GannetBase
import GannetFetch
import GannetTestKit

/// How many calls a second one thread makes, and two at a time.
enum Speed {
    private static let entries = 100_000

    static func measure(isQuick: Bool) {
        let calls = isQuick ? 500_000 : 5_000_000
        table(
            "Calls a second, \(grouped(entries)) entries; medians of 5 rounds", "call", "one thread", "two threads together")
        let numbers = Array(0..<2 * entries)
        let urls = numbers.map { "https://images.example.com/pictures/large/\($0).jpg" }
        report("hit, `Int` keys") { hits(numbers, calls, threads: $0) }
        report("hit, `String` keys of 52 bytes") { hits(urls, calls, threads: $0) }
        report("miss, `String` keys") { misses(urls, calls, threads: $0) }
        report("insertion with eviction, `Int` keys") { insertions(calls, threads: $0, timeToLive: nil) }
        report("the same with a time to live") { insertions(calls, threads: $0, timeToLive: .seconds(1000)) }
    }

    private static func report(_ name: String, _ perSecond: (_ threads: Int) -> Double) {
        let rounds = (0..<5).map { _ in (perSecond(1), perSecond(2)) }
        row(name, rate(rounds.map(\.0).median), rate(rounds.map(\.1).median))
    }

    private static func hits<Key: Hashable & Sendable>(_ keys: [Key], _ calls: Int, threads: Int) -> Double {
        let cache = MemoryCache<Key, [UInt8]>(.init(costLimit: .max, countLimit: .max))
        for key in keys { cache.insert([1, 2, 3], for: key, cost: 3) }
        return lookUp(in: cache, keys, calls, threads: threads)
    }

    private static func misses<Key: Hashable & Sendable>(_ keys: [Key], _ calls: Int, threads: Int) -> Double {
        let cache = MemoryCache<Key, [UInt8]>(.init(costLimit: .max, countLimit: .max))
        for key in keys.prefix(entries) { cache.insert([1, 2, 3], for: key, cost: 3) }
        return lookUp(in: cache, Array(keys.suffix(entries)), calls, threads: threads)
    }

    private static func lookUp<Key: Hashable & Sendable>(
        in cache: MemoryCache<Key, [UInt8]>, _ keys: [Key], _ calls: Int, threads: Int
    ) -> Double {
        perSecond(calls, threads: threads) { thread in
            var random = SeededBytes(seed: UInt64(thread))
            let order = (0..<65_536).map { _ in Int.random(in: 0..<keys.count, using: &random) }
            return {
                var found = 0
                for call in 0..<calls { found &+= cache.value(for: keys[order[call & 65_535]])?.count ?? 0 }
                precondition(found >= 0)
            }
        }
    }

    private static func insertions(_ calls: Int, threads: Int, timeToLive: Duration?) -> Double {
        let cache = MemoryCache<Int, Int>(.init(costLimit: entries, countLimit: .max))
        for key in 0..<entries { cache.insert(key, for: -1 - key, cost: 1) }
        return perSecond(calls, threads: threads) { thread in
            {
                for call in 0..<calls { cache.insert(call, for: call * threads + thread, cost: 1, timeToLive: timeToLive) }
            }
        }
    }

    /// Runs on so many threads what is made for each, and tells how many calls that was a second.
    private static func perSecond(_ calls: Int, threads: Int, _ make: (Int) -> @Sendable () -> Void) -> Double {
        let bodies = (0..<threads).map(make)
        let start = ContinuousClock.now
        let running = bodies.map { OwnedThread(name: "bench", $0) }
        for thread in running { thread?.join() }
        return Double(calls * threads) / ((ContinuousClock.now - start) / .seconds(1))
    }
}
