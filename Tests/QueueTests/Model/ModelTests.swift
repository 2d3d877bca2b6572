import GannetTestKit
import Testing

@testable import GannetQueue

/// Every accepted job ends exactly once, by allowed steps, and leaves nothing behind. That holds whatever happens to workers, callers and
/// clocks.
@Suite struct ModelTests {
    /// Seeds that have found a defect, each with that defect.
    private static let telling: [UInt64] = [
        // A cancelled job's crash was forgotten, and a job that stood aside for the same URL began without it.
        2_037_981_203_415_129_185,
        // A caller took the lock of a URL that was held for too long, and the place that this freed was offered to no queue.
        4_329_296_376_798_884_988,
    ]

    @Test func `the state keeps its rules whatever happens`() async throws {
        let settings = FuzzSettings(always: Array(1...9) + Self.telling, random: 4)
        try await Self.check("model", settings, steps: FuzzSettings.steps ?? 150)
    }

    @Test func `several partitions keep their rules whatever happens`() async throws {
        let settings = FuzzSettings(always: Array(1...3), random: 2, cost: 2)
        try await Self.check("partitions", settings, steps: FuzzSettings.steps ?? 150) { $0.partitions = 3 }
    }

    @Test func `the state keeps its rules where calls reach their bounds`() async throws {
        // In the last of these, dozens of hosts were due before a URL that had come back, and their jobs went first.
        let settings = FuzzSettings(always: [1, 7_791_545_163_489_761_193], random: 1, cost: 50)
        try await Self.check("crowds", settings, steps: 40) { $0.isCrowded = true }
    }

    @Test func `the state keeps its rules where lists have many parts`() async throws {
        let settings = FuzzSettings(always: Array(1...4), random: 2)
        try await Self.check("parts", settings, steps: FuzzSettings.steps ?? 150) {
            $0.scripts = ClusterScripts(partBytes: 80)
        }
    }

    @Test func `a server that is killed and started again is where it was`() async throws {
        let settings = FuzzSettings(always: [1], random: 1, cost: 50)
        try await Self.check("crashes", settings, steps: 100, .init { $0.appendOnly = true }) { $0.crashes = true }
    }

    @Test(arguments: [1, 4, 64]) func `a cluster keeps the rules, with as many partitions`(partitions: Int) async throws {
        let isMany = partitions == 64
        let settings = FuzzSettings(always: isMany ? [] : [1], random: 1, cost: isMany ? 50 : 8)
        let steps = FuzzSettings.steps ?? (isMany ? 40 : 120)
        try await Self.check("cluster", settings, steps: steps, isOnCluster: true) { $0.partitions = partitions }
    }

    /// Runs the seeds on two servers at once, or on one cluster. While one server is busy, the other's answer is checked.
    private static func check(
        _ name: String, _ settings: FuzzSettings, steps: Int, _ options: RedisServer.Options = .init(),
        isOnCluster: Bool = false, _ change: @escaping @Sendable (inout Fuzz) -> Void = { _ in }
    ) async throws {
        let seeds = settings.seeds
        print("\(name): \(steps) steps of \(seeds.count) seeds, at random: \(settings.random.prefix(50))")
        let failures = try await withThrowingTaskGroup(of: String?.self) { group in
            let benches = isOnCluster ? 1 : 2
            for part in 0..<benches {
                let mine = seeds.enumerated().filter { $0.offset % benches == part }.map(\.element)
                group.addTask {
                    do {
                        let bench = isOnCluster ? try await ModelBench.cluster() : try await ModelBench(options)
                        return try await firstFailure(mine, steps: steps, bench, change)
                    } catch {
                        // The course on the other server has failed, and ended this one.
                        if Task.isCancelled { return nil }
                        throw error
                    }
                }
            }
            var failures: [String] = []
            for try await case let failure? in group {
                failures.append(failure)
                group.cancelAll()
            }
            return failures
        }
        for failure in failures.prefix(1) { Issue.record(Comment(rawValue: failure)) }
    }

    private static func firstFailure(
        _ seeds: [UInt64], steps: Int, _ bench: ModelBench, _ change: @Sendable (inout Fuzz) -> Void
    ) async throws -> String? {
        var fuzz = Fuzz(bench)
        change(&fuzz)
        for seed in seeds {
            if let failure = try await fuzz.failure(seed: seed, steps: steps) { return failure }
        }
        try await bench.close()
        return nil
    }
}
