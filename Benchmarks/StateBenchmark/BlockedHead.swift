import BenchmarkKit
import ClusterState

/// A line whose head belongs to hosts that take nothing: how long the rest waits for the first claims to get past it.
struct BlockedHead {
    let stage: Stage
    let scale: Scale

    func run() async throws {
        table(
            "A head of jobs for blocked hosts; claims of 64, one after the other", "waiting", "", "claims", "time", "server p50",
            "server longest")
        try await measure(scale.cooling, of: scale.coolingHosts, before: scale.cooling / 10)
        try await measure(scale.deepest / 10 * 9, of: 1, before: scale.deepest / 10)
    }

    private func measure(_ blocked: Int, of hosts: Int, before others: Int) async throws {
        let queue = stage.queue
        _ = try await stage.clear()
        try await queue.block(0..<hosts)
        try await queue.fill("b", blocked + others) { try Feed.entry($0, host: $0 < blocked ? $0 % hosts : hosts + $0 % 1000) }
        let name = "\(grouped(blocked)) of \(grouped(hosts)) blocked host\(hosts == 1 ? "" : "s") before \(grouped(others))"

        var count = 0
        let start = ContinuousClock.now
        var end = start
        let reaching = try await stage.claimTimes {
            var jobs: [Job] = []
            while jobs.isEmpty {
                jobs = try await queue.take(64).jobs
                count += 1
            }
            end = ContinuousClock.now
            try await queue.finish(jobs)
        }
        row(
            name, "until the first job was handed out", grouped(count), seconds(end - start), time(reaching.percentile(0.5)),
            time(reaching.max() ?? 0))

        var claims: [Double] = []
        let after = try await stage.claimTimes {
            for _ in 0..<min(scale.samples, others / 64 / 2) {
                let start = ContinuousClock.now
                let jobs = try await queue.take(64).jobs
                claims.append((ContinuousClock.now - start) / .microseconds(1))
                try await queue.finish(jobs)
            }
        }
        row(
            name, "each claim after it, p50", grouped(claims.count), time(claims.percentile(0.5)), time(after.percentile(0.5)),
            time(after.max() ?? 0))
    }
}
