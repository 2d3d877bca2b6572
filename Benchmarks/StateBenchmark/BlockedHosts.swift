import BenchmarkKit
import GannetQueue

/// A queue whose first jobs belong to hosts that take nothing: how long the rest waits for exchanges to get past them.
struct BlockedHosts {
    let stage: Stage
    let scale: Scale

    func run() async throws {
        table(
            "Jobs of blocked hosts come first; exchanges of 64, one after the other", "waiting", "", "exchanges", "time", "server p50",
            "server longest")
        try await measure(scale.jobs, of: min(1000, scale.jobs), before: scale.jobs / 10)
        try await measure(scale.deepest / 10 * 9, of: 1, before: scale.deepest / 10)
    }

    private func measure(_ blocked: Int, of hosts: Int, before others: Int) async throws {
        let queue = stage.queue
        try await stage.clear()
        var worker = Worker(queue)
        // Each of the hosts puts one job off.
        try await queue.fill("blocking", hosts) { try Feed.entry(1_000_000_000 + $0, host: $0) }
        while try await worker.exchange(64, Worker.throttled) {}
        try await queue.fill("b", blocked + others) { try Feed.entry($0, host: $0 < blocked ? $0 % hosts : hosts + $0 % 1000) }
        let name = "\(grouped(blocked)) of \(grouped(hosts)) blocked host\(hosts == 1 ? "" : "s") before \(grouped(others))"

        try await stage.row([name, "until the first job"]) { while worker.held.isEmpty { try await worker.exchange(64) } }
        try await stage.row([name, "after it"]) { for _ in 0..<min(scale.samples, others / 64 / 2) { try await worker.exchange(64) } }
    }
}
