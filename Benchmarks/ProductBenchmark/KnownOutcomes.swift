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

    /// Jobs that were done.
    struct Run {
        let count: Int
        let seconds: Double
        let cpuTime: Duration
        let redis: Stage.Work

        var perSecond: Double { Double(count) / seconds }
    }

    func run() async throws {
        let count = isQuick ? 2000 : 100_000
        let product = Product(stage: stage)
        let list = stage.folder.file("urls")
        try await know(list, count, product)
        // A Redis of their own, because they begin with an empty one in each round and gannet must not.
        let peers = try await Stage.start()
        var contenders: [(name: String, run: () async throws -> Run)] = []
        contenders.append(
            (
                "gannet",
                {
                    try await product.enqueue(list, count: count, "--max-age", "24h")
                    let run = try await product.work(.init(), count, total: "cached")
                    return Run(count: count, seconds: run.seconds, cpuTime: run.cpuTime, redis: run.redis)
                }
            ))
        contenders.append(("Sidekiq", { try await Sidekiq(stage: peers, logs: true).run(count) }))
        contenders.append(("Sidekiq without its log", { try await Sidekiq(stage: peers, logs: false).run(count) }))
        contenders.append(("RQ, `SimpleWorker`", { try await RQ(stage: peers, workerClass: "rq.SimpleWorker").run(isQuick ? 200 : 4000) }))
        contenders.append(("RQ, a process a job", { try await RQ(stage: peers, workerClass: "rq.Worker").run(isQuick ? 50 : 1000) }))

        var runs = [[Run]](repeating: [], count: contenders.count)
        for round in 1...rounds {
            for (index, contender) in contenders.enumerated() {
                note("\(contender.name): round \(round) of \(rounds)")
                runs[index].append(try await contender.run())
            }
        }
        table(
            "Jobs with nothing to fetch, one worker process, its start included", "queue", "jobs", "a second", "gannet / this",
            "worker's CPU a job", "Redis' CPU a job", "commands a job")
        for (contender, own) in zip(contenders, runs) {
            row(
                contender.name, grouped(own[0].count), rate(own.map(\.perSecond).median),
                tenths(zip(runs[0], own).map { $0.perSecond / $1.perSecond }.median),
                time(own.map { $0.cpuTime.microseconds / Double($0.count) }.median),
                time(own.map { $0.redis.cpuTime.microseconds / Double($0.count) }.median),
                tenths(own.map { Double($0.redis.statistics.calls) / Double($0.count) }.median))
        }
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
