import BenchmarkKit
import ClusterState

/// The time of a claim while few or many jobs wait, also while most of them are for a blocked host.
struct Depth {
    let stage: Stage
    let scale: Scale
    private static let blockedHost = 0
    private static let runnableHosts = 1000

    func run() async throws {
        table(
            "One claim; what it brought is handed back after each", "waiting", "jobs", "p50", "p99", "server p50", "server p99",
            "server longest")
        for depth in scale.depths {
            _ = try await stage.clear()
            try await stage.queue.fill("b", depth) { try Feed.entry($0, host: 1 + $0 % Self.runnableHosts) }
            try await measure(grouped(depth))
        }
        for depth in scale.depths {
            _ = try await stage.clear()
            try await stage.queue.block(0..<1)
            try await stage.queue.fill("b", depth) {
                try Feed.entry($0, host: $0 % 10 == 9 ? 1 + $0 % Self.runnableHosts : Self.blockedHost)
            }
            try await measure("\(grouped(depth)), 90 % of one blocked host")
        }
    }

    private func measure(_ name: String) async throws {
        for limit in [1, 64] {
            var claims: [Double] = []
            let server = try await stage.claimTimes {
                for _ in 0..<scale.samples {
                    let start = ContinuousClock.now
                    let jobs = try await stage.queue.take(limit).jobs
                    claims.append((ContinuousClock.now - start) / .microseconds(1))
                    if !jobs.isEmpty { try await stage.queue.handBack(jobs) }
                }
            }
            row(
                name, "\(limit)", time(claims.percentile(0.5)), time(claims.percentile(0.99)), time(server.percentile(0.5)),
                time(server.percentile(0.99)), time(server.max() ?? 0))
        }
    }
}
