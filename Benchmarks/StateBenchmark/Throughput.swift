import BenchmarkKit
import ClusterState

/// Jobs from end to end, and what they take in memory.
struct Throughput {
    let stage: Stage
    let scale: Scale

    private struct Memory {
        let hosts: Int
        let enqueued: Double
        let waiting: Double
        let finished: Double
    }

    func run() async throws {
        table(
            "Claim and finish; \(grouped(scale.jobs)) jobs at each number of hosts", "hosts", "callers", "batch", "jobs", "server CPU a job"
        )
        let memory = [try await measure(hosts: 1), try await measure(hosts: scale.manyHosts)]
        table(
            "Enqueueing in chunks of 1000, one producer; bytes of Redis' memory a URL of 56 bytes", "hosts", "jobs", "waiting", "finished")
        for figures in memory {
            row(grouped(figures.hosts), rate(figures.enqueued), tenths(figures.waiting), tenths(figures.finished))
        }
    }

    private func measure(hosts: Int) async throws -> Memory {
        let queue = stage.queue
        let empty = try await stage.clear()
        let start = ContinuousClock.now
        try await queue.fill("b", scale.jobs) { try Feed.entry($0, host: $0 % hosts) }
        let enqueued = Double(scale.jobs) / ((ContinuousClock.now - start) / .seconds(1))
        let waiting = Double(try await stage.usedMemory() - empty) / Double(scale.jobs)
        for (callers, limit, part) in [(1, 1, 50), (1, 16, 10), (1, 64, 5), (8, 1, 20), (8, 16, 5), (8, 64, 5)] {
            let cpu = try await stage.cpu()
            let start = ContinuousClock.now
            let done = Double(try await queue.work(callers: callers, limit: limit, most: scale.jobs / part))
            let elapsed = ContinuousClock.now - start
            let used = (try await stage.cpu() - cpu) / .microseconds(1) / done
            row(grouped(hosts), "\(callers)", "\(limit)", rate(done / (elapsed / .seconds(1))), time(used))
        }
        _ = try await queue.work(callers: 8, limit: 64, most: .max)
        let finished = Double(try await stage.usedMemory() - empty) / Double(scale.jobs)
        return Memory(hosts: hosts, enqueued: enqueued, waiting: waiting, finished: finished)
    }
}
