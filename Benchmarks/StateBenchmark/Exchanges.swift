import BenchmarkKit
import GannetQueue

/// The cost of an exchange as it carries more jobs, and the memory that jobs take.
struct Exchanges {
    let stage: Stage
    let scale: Scale

    private struct Memory {
        let hosts: Int
        let waiting: Double
        let finished: Double
    }

    func run() async throws {
        table(
            "Exchanges of one worker, which settle jobs and bring as many; medians of \(scale.rounds) rounds", "hosts", "jobs a call",
            "jobs", "Redis' CPU a job", "bare queue, as many in a pipeline", "ratio")
        let memory = [try await measure(hosts: 1), try await measure(hosts: 1000)]
        table("Bytes of Redis' memory a URL of 56 bytes; \(grouped(scale.jobs)) jobs", "hosts", "waiting", "finished")
        for figures in memory { row(grouped(figures.hosts), tenths(figures.waiting), tenths(figures.finished)) }
    }

    private func measure(hosts: Int) async throws -> Memory {
        try await stage.clear()
        let empty = try await stage.usedMemory()
        try await stage.queue.fill("b", scale.jobs) { try Feed.entry($0, host: $0 % hosts) }
        let waiting = Double(try await stage.usedMemory() - empty) / Double(scale.jobs)
        let bare = try await BareQueue(stage)
        var worker = Worker(stage.queue)
        for jobsPerCall in [1, 8, 64] {
            var (rates, own, others): ([Double], [Double], [Double]) = ([], [], [])
            for _ in 0..<scale.rounds {
                let start = ContinuousClock.now
                var count = 0
                let used = try await stage.cpuTime { count = try await worker.fetch(scale.jobs / 50, jobsPerCall) }
                rates.append(Double(count) / ((ContinuousClock.now - start) / .seconds(1)))
                own.append(used / Double(count))
                others.append(try await bare.run(scale.jobs / 50, jobsPerCall))
            }
            row(
                grouped(hosts), "\(jobsPerCall)", rate(rates.median), time(own.median), time(others.median),
                tenths(zip(own, others).map { $0 / $1 }.median))
        }
        while try await worker.exchange(256) {}
        return Memory(hosts: hosts, waiting: waiting, finished: Double(try await stage.usedMemory() - empty) / Double(scale.jobs))
    }
}
