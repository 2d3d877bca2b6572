import BenchmarkKit
import GannetTestKit

/// Jobs with nothing to fetch, since the outcomes of their URLs are known, beside queues whose jobs do nothing.
struct KnownOutcomes {
    private let stage: Stage
    private let rounds: Int
    private let isQuick: Bool

    init(_ stage: Stage, _ rounds: Int, _ isQuick: Bool) {
        self.stage = stage
        self.rounds = rounds
        self.isQuick = isQuick
    }

    func run() async throws {
        let count = isQuick ? 2000 : 100_000
        let product = Product(stage: stage)
        let list = stage.folder.file("urls")
        try await know(list, count, product)
        // A Redis of their own, because they begin with an empty one in each round and gannet must not.
        let peers = try await Stage.start()
        let sidekiq = Sidekiq(stage: peers, logs: true)
        var contest = Contest([
            .init(name: "gannet") {
                try await product.enqueue(list, count: count, "--max-age", "24h")
                let run = try await product.work(.init(), count, total: "cached")
                return .init(count: count, seconds: run.seconds, cpuTime: run.cpuTime, peakMemory: run.peakMemory, redis: run.redis)
            },
            .init(name: "Sidekiq", omits: Sidekiq.omits) { try await sidekiq.run(count) },
            .init(name: "Sidekiq without its log", omits: Sidekiq.omits) { try await Sidekiq(stage: peers, logs: false).run(count) },
            .init(name: "RQ, `SimpleWorker`") { try await RQ(stage: peers, workerClass: "rq.SimpleWorker").run(isQuick ? 50 : 4000) },
            .init(name: "RQ, a process a job") { try await RQ(stage: peers, workerClass: "rq.Worker").run(isQuick ? 20 : 1000) },
        ])
        try await contest.run(rounds: rounds)
        contest.printTable("Jobs with nothing to fetch, one worker process, its start included", unit: "job")
        try await peers.redis.stop()
    }

    /// Has every URL fetched once.
    private func know(_ list: String, _ count: Int, _ product: Product) async throws {
        note("fetching \(grouped(count)) URLs, so that their outcomes are known")
        let origin = try await Origin.start(
            .init {
                $0.fileCount = 0
                $0.isFast = true
                $0.directives = "location /bench/ { return 200 $request_uri; }"
            })
        try writeFile(list, count) { origin.url("/bench/a/path/of/usual/length/\($0)\n") }
        try await product.enqueue(list, count: count)
        _ = try await product.work(.init(hostLimit: 64), count, total: "fetched")
        try await origin.stop()
    }
}
