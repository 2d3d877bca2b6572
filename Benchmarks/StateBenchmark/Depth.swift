import BenchmarkKit
import GannetQueue

/// The time of `gannet status`' look at the queue, and of exchanges, while few or many jobs wait.
struct Depth {
    let stage: Stage
    let scale: Scale

    func run() async throws {
        table("One call while jobs of 1,000 hosts wait", "waiting", "call", "p50", "p99")
        for depth in scale.depths {
            try await stage.clear()
            try await stage.queue.fill("b", depth) { try Feed.entry($0, host: $0 % 1000) }
            var worker = Worker(stage.queue)
            try await measure(depth, "`status`") { _ = try await stage.queue.overview() }
            try await measure(depth, "exchange of 64 jobs, handed back by the next") { try await worker.exchange(64, Worker.handedBack) }
        }
    }

    private func measure(_ depth: Int, _ name: String, _ call: () async throws -> Void) async throws {
        var times: [Double] = []
        for _ in 0..<scale.samples {
            let start = ContinuousClock.now
            try await call()
            times.append((ContinuousClock.now - start) / .microseconds(1))
        }
        row(grouped(depth), name, time(times.percentile(0.5)), time(times.percentile(0.99)))
    }
}
