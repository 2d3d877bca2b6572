import ClusterState

/// A line whose first nine tenths belong to one host that takes nothing: how long the rest waits for the first claims to get past it.
struct BlockedHead {
    let stage: Stage
    let scale: Scale

    func run() async throws {
        _ = try await stage.clear()
        try await stage.queue.block(0..<1)
        let blocked = scale.deepest / 10 * 9
        try await stage.queue.fill("b", scale.deepest) { try Feed.entry($0, host: $0 < blocked ? 0 : 1 + $0 % 1000) }
        table(
            "\(grouped(scale.deepest)) waiting, the first \(grouped(blocked)) of them for one blocked host; claims of 64, one after the other",
            "", "claims", "time", "server p50", "server longest")
        var count = 0
        let start = ContinuousClock.now
        var end = start
        let reaching = try await stage.claimTimes {
            var jobs = 0
            while jobs == 0 {
                jobs = try await stage.queue.take(64).jobs.count
                count += 1
            }
            end = ContinuousClock.now
        }
        row(
            "until the first job was handed out", grouped(count), seconds(end - start), time(reaching.percentile(0.5)),
            time(reaching.max() ?? 0))
        var later: [Double] = []
        let after = try await stage.claimTimes {
            for _ in 0..<min(scale.samples, scale.deepest / 10 / 64 / 2) {
                let start = ContinuousClock.now
                let jobs = try await stage.queue.take(64).jobs
                later.append((ContinuousClock.now - start) / .microseconds(1))
                try await stage.queue.finish(jobs)
            }
        }
        row(
            "each claim after it", grouped(later.count), time(later.percentile(0.5)), time(after.percentile(0.5)), time(after.max() ?? 0))
    }
}
