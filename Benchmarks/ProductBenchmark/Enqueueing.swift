import BenchmarkKit
import GannetTestKit

/// A file of URLs on its way into the queue, beside `LPUSH` of the same lines.
struct Enqueueing {
    let stage: Stage
    let rounds: Int
    let isQuick: Bool

    private static let hosts = 10_000

    func run() async throws {
        let count = isQuick ? 10_000 : 1_000_000
        let list = stage.folder.file("million")
        let url = { (number: Int) in "https://host\(number % Self.hosts).example/a/path/of/usual/length/\(number)" }
        try writeFile(list, count) { url($0) + "\n" }
        let pushes = stage.folder.file("pushes")
        try writeFile(pushes, count) { "LPUSH waiting \(url($0))\n" }
        let product = Product(stage: stage)
        let pipe = Command("sh", ["-c", "redis-cli -s '\(stage.redis.socketPath)' --pipe < '\(pushes)'"])
        var contest = Contest([
            .init(name: "gannet enqueue") {
                try await self.measure(count) { try await product.enqueue(list, count, []) }
            },
            .init(
                name: "`redis-cli --pipe` with `LPUSH`",
                omits:
                    "all but the list: no look at the URL, no batch, no count, no host; it sends the same line again after an interruption"
            ) { try await self.measure(count) { try await pipe.run() } },
        ])
        try await contest.run(rounds: rounds)
        contest.printTable("`enqueue -i FILE` of URLs on \(grouped(Self.hosts)) hosts, its start included", unit: "URL")
        try await stage.clear()
    }

    private func measure(_ count: Int, _ body: () async throws -> Command.End) async throws -> Contest.Run {
        try await stage.clear()
        var end: Command.End?
        let redis = try await stage.work { end = try await body() }
        guard let end else { throw KitError("nothing ran") }
        return Contest.Run(count, end, redis: redis)
    }
}
