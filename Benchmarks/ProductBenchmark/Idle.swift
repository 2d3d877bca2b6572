// Linux only: it reads the processor time of running threads from /proc.
import BenchmarkKit
import Crawl
import GannetQueue
import GannetRedisClient
import GannetTestKit
import Lists

/// Workers with nothing to do: their processor time, and how soon a new job's request is on the wire.
struct Idle {
    let stage: Stage
    let rounds: Int
    let isQuick: Bool

    func run() async throws {
        try await wake()
        try await rest()
    }

    /// From the call that hands a URL over to the first request at the origin. The worker had nothing to do before.
    private func wake() async throws {
        let count = isQuick ? 5 : 50
        let response = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
        let origin = try HostileServer(.readUntil("\r\n\r\n"), .send(response), .close)
        let redis = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: stage.redis.socketPath)))
        try await stage.clear()
        let worker = try start(Product(stage: stage).command(["work", "--allow-net", "127.0.0.0/8"]))
        let queue = ClusterState(redis, namespace: "gannet").queue("default")
        var times: [Double] = []
        // The first is not counted: it waits for the worker's start.
        for number in 0...count {
            var producer = try await Producer(queue, batch: "batch-\(number)", from: "benchmark")
            try await producer.add(Row(.argument(1), url: "http://127.0.0.1:\(origin.port)/\(number)"))
            let start = ContinuousClock.now
            try await producer.finish()
            try await origin.received("\r\n\r\n", by: number)
            if number > 0 { times.append((ContinuousClock.now - start) / .microseconds(1)) }
            // Long enough to be idle.
            try await Task.sleep(for: .milliseconds(isQuick ? 100 : 500))
        }
        table("From `enqueue` to the request on the wire, an idle worker", "URLs, one after another", "p50", "p90", "longest")
        row(grouped(count), time(times.percentile(0.5)), time(times.percentile(0.9)), time(times.max() ?? 0))
        worker.terminate()
        _ = try await bounded("the worker ends") { try await worker.exitStatus }
        await redis.close()
        try await origin.stop()
    }

    /// The processor time of workers whose queues are empty.
    private func rest() async throws {
        let window = Duration.seconds(isQuick ? 1 : 10)
        let workers: [(name: String, start: () throws -> ChildProcess)] = [
            ("gannet work", { try start(Product(stage: stage).command(["work"])) }),
            ("Sidekiq", { try Sidekiq(stage: stage, logs: false).worker() }),
            ("RQ, a process a job", { try start(try RQ(stage: stage, workerClass: "rq.Worker").worker()) }),
        ]
        var figures = [[(own: Double, redis: Double)]](repeating: [], count: workers.count)
        for round in 1...rounds {
            for (index, worker) in workers.enumerated() {
                note("\(worker.name), idle: round \(round) of \(rounds)")
                try await stage.clear()
                let process = try worker.start()
                // Its start is over then.
                try await Task.sleep(for: .seconds(4))
                let before = try RunningProcess.cpuTime(of: process.pid)
                let redis = try await stage.work { try await Task.sleep(for: window) }
                let own = try RunningProcess.cpuTime(of: process.pid) - before
                figures[index].append((100 * (own / window), 100 * (redis.cpuTime / window)))
                process.terminate()
                _ = try await bounded("\(worker.name) ends") { try await process.exitStatus }
            }
        }
        table("An idle worker's processor time, in percent of a core", "worker", "median (lowest to highest)", "Redis' meanwhile")
        for (worker, own) in zip(workers, figures) {
            let values = own.map(\.own)
            let spread = "\(hundredths(values.min() ?? 0)) to \(hundredths(values.max() ?? 0))"
            row(worker.name, "\(hundredths(values.median)) (\(spread))", hundredths(own.map(\.redis).median))
        }
    }

    private func start(_ command: Command) throws -> ChildProcess {
        try ChildProcess(
            .init(command.program, command.arguments, environment: command.environment, folder: command.folder, output: .discarded))
    }
}
