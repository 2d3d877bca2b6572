#if canImport(Glibc)
import Foundation
import GannetTestKit
import Testing

@testable import ClusterState

/// Whatever happens to workers, callers and clocks: everything accepted ends exactly once, by allowed steps, and leaves nothing behind.
@Suite struct ModelTests {
    @Test func `the state and the model agree`() async throws {
        let bench = try await ModelBench()
        let settings = FuzzSettings()
        print("model: seeds \(settings.seeds.prefix(3))… and \(settings.seeds.suffix(3)), \(settings.steps) steps")
        for seed in settings.seeds {
            guard let failure = try await Fuzz(bench).failure(seed: seed, steps: settings.steps) else { continue }
            Issue.record("\(failure)")
            return
        }
        try await bench.close()
    }
}

/// Which courses are run, as the environment says.
struct FuzzSettings {
    let seeds: [UInt64]
    let steps: Int

    init() {
        func number(_ name: String) -> UInt64? { ProcessInfo.processInfo.environment["GANNET_FUZZ_\(name)"].flatMap { UInt64($0) } }
        steps = Int(number("STEPS") ?? 500)
        if let seed = number("SEED") {
            seeds = [seed]
        } else if let count = number("SEEDS") {
            seeds = (0..<count).map { _ in .random(in: .min ... .max) }
        } else {
            seeds = Array(1...150) + (0..<50).map { _ in .random(in: .min ... .max) }
        }
    }
}
#endif
