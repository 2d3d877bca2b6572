import BenchmarkKit
import GannetTestKit

/// RQ with a worker that ends when its queue is empty.
struct RQ {
    let stage: Stage
    let workerClass: String

    func run(_ count: Int) async throws -> Contest.Run {
        try await stage.clear()
        _ = try await Peers.python("python", ["nothing.py", stage.url, "\(count)"]).run()
        let worker = try worker(["--burst"])
        var end: Command.End?
        let redis = try await stage.work { end = try await worker.run() }
        guard let end, try await stage.redis.command("ZCARD", "rq:finished:default") == .integer(count) else {
            throw KitError("RQ did not finish \(count) jobs: \(end?.errors ?? "")")
        }
        return .init(count: count, seconds: end.seconds, cpuTime: end.usage.cpuTime, peakMemory: end.usage.peakMemory, redis: redis)
    }

    /// Its worker, which says nothing about jobs that go well.
    func worker(_ options: [String] = []) throws -> Command {
        try Peers.python("rq", ["worker", "--quiet", "--worker-class", workerClass, "--url", stage.url] + options + ["default"])
    }
}
