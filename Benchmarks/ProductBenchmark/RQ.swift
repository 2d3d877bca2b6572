import BenchmarkKit
import GannetTestKit

/// RQ with a worker that ends when its queue is empty.
struct RQ {
    let stage: Stage
    let workerClass: String

    func run(_ count: Int) async throws -> KnownOutcomes.Run {
        try await stage.clear()
        _ = try await rq(interpreter() + ["nothing.py", stage.url, "\(count)"])
        var seconds = 0.0
        var outcome: ChildProcess.Outcome?
        let redis = try await stage.work {
            let start = ContinuousClock.now
            outcome = try await rq(["rq", "worker", "--burst", "--quiet", "--worker-class", workerClass, "--url", stage.url, "default"])
            seconds = (ContinuousClock.now - start) / .seconds(1)
        }
        guard try await stage.redis.command("ZCARD", "rq:finished:default") == .integer(count) else {
            throw KitError("RQ did not finish \(count) jobs: \(outcome?.errors ?? "")")
        }
        return .init(count: count, seconds: seconds, cpuTime: outcome?.usage.cpuTime ?? .zero, redis: redis)
    }

    /// The Python that RQ is installed for, as the first line of its command has it.
    private func interpreter() throws -> [String] {
        guard let command = Program.find("rq") else { throw KitError("rq is not installed: Scripts/setup --bench installs it") }
        let line = try contents(ofFile: command).prefix { $0 != UInt8(ascii: "\n") }
        return String(decoding: line.dropFirst(2), as: UTF8.self).split(separator: " ").map(String.init)
    }

    private func rq(_ words: [String]) async throws -> ChildProcess.Outcome {
        let outcome = try await bounded("\(words.joined(separator: " ")) ends", within: .seconds(300)) {
            try await ChildProcess.run(
                .init(words[0], Array(words.dropFirst()), environment: Peers.environment([:]), folder: Peers.folder))
        }
        guard outcome.status == .exited(0) else { throw KitError("\(words.joined(separator: " ")) failed: \(outcome.errors)") }
        return outcome
    }
}
