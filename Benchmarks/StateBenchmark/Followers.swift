import BenchmarkKit
import ClusterState

/// One URL that very many jobs wait for.
struct Followers {
    let stage: Stage
    let scale: Scale

    func run() async throws {
        let queue = stage.queue
        _ = try await stage.clear()
        try await queue.fill("b", scale.followers + 1) { _ in try Feed.entry(7, host: 0) }
        let leader = try await queue.take(1).jobs
        while try await queue.take(64).isMore {}
        let parked = try await queue.counts().parked
        table(
            "\(grouped(parked)) jobs parked behind one URL", "", "calls", "time", "server p50", "server longest")
        var start = ContinuousClock.now
        let settling = try await stage.serverTimes { try await queue.finish(leader) }.values.first ?? []
        row("settling the URL", "1", seconds(ContinuousClock.now - start), time(settling.percentile(0.5)), time(settling.max() ?? 0))
        start = .now
        var end = start
        let draining = try await stage.claimTimes {
            while try await queue.take(64).isMore {}
            end = .now
        }
        row(
            "claims that end them all as cached", grouped(draining.count), seconds(end - start), time(draining.percentile(0.5)),
            time(draining.max() ?? 0))
    }
}
