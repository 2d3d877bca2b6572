import GannetTestKit
import Testing

@testable import GannetQueue

/// The model says so when the scripts break a rule of hosts.
@Suite(.timeLimit(.minutes(2))) struct BrokenRuleTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let right: String
        let wrong: String
        /// In the model's sentence.
        let words: String
        /// The course that found it when it was written down. Where the scripts have changed since, one of the next does.
        let seed: UInt64
    }

    static let faults = [
        Fault(
            testDescription: "a host has all its places before it answers", right: "min(Hosts.limit, Hosts.first * 2 ^ Hosts.earned[name])",
            wrong: "Hosts.limit", words: " requests, and has ", seed: 9),
        Fault(
            testDescription: "an answer counts twice", right: "min(Hosts.MOST_EARNED, earned + answers)",
            wrong: "min(Hosts.MOST_EARNED, earned + 2 * answers)", words: " answers came", seed: 33),
        Fault(
            testDescription: "a host that never answered is waited for like any other",
            right: "if isOver or isNew and probes > 0 and host.failures >= probes then", wrong: "if isOver then", words: "is waited for",
            seed: 24),
        Fault(
            testDescription: "a host is given up only when it is asked again",
            right: "since + patience or Hosts.NEVER",
            wrong: "Hosts.NEVER or Hosts.NEVER", words: "waits for longer than anybody wanted", seed: 90),
        Fault(
            testDescription: "a URL that was put off for too long is asked for", right: "or Hosts.putOffEnds(lock) <= now)", wrong: ")",
            words: "was put off for too long", seed: 16),
        Fault(
            testDescription: "jobs of a host that is given up stand aside while it rests",
            right: "if Hosts.isHopeless(host) then return Clock.now end", wrong: "", words: "waits for longer than anybody wanted",
            seed: 70061),
        Fault(
            testDescription: "jobs fail beside the probe of their host",
            right: "host.probing == Hosts.ENDING or host.probing == Hosts.GIVEN_UP and host.cool > Clock.now end",
            wrong: "host.probing >= Hosts.GIVEN_UP end", words: "fails, and nobody gave it up", seed: 12),
    ]

    @Test(arguments: faults) func `a broken rule is found`(fault: Fault) async throws {
        let bench = try await ModelBench()
        var isPlanted = false
        let scripts = ClusterScripts(partBytes: ClusterScripts.standard.partBytes) { text in
            isPlanted = isPlanted || text.contains(fault.right)
            return text.replacing(fault.right, with: fault.wrong)
        }
        try #require(isPlanted)
        for seed in fault.seed..<fault.seed + 40 {
            let run = try await ModelRun(bench, ModelClimate(seed: seed, partitions: 1, isCrowded: false), scripts)
            do {
                try await run.run(Operation.course(seed: seed, count: 150, crashes: false))
            } catch let violation as Violation {
                print("'\(fault.testDescription)' is found by seed \(seed): \(violation)")
                #expect(violation.description.contains(fault.words), "\(violation)")
                return try await bench.close()
            }
        }
        Issue.record("no course finds it")
        try await bench.close()
    }
}
