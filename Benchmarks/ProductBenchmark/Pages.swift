import BenchmarkKit
import GannetTestKit

/// Pages whose URLs come out of Redis and whose text goes into Redis, beside scrapy-redis.
struct Pages {
    let stage: Stage
    let rounds: Int
    let isQuick: Bool

    private static let places = 64

    func run() async throws {
        let count = isQuick ? 200 : 20_000
        // Scrapy would take some minutes for as many. Its start is a small part of the time for these.
        let fewer = isQuick ? 200 : 5000
        let origin = try await Origin.start(.init { $0.answersWithOwnBodies(type: "text/html") })
        let url = { (number: Int) in origin.url("/bench/a/path/of/usual/length/\(number)") }
        let product = Product(stage: stage)
        let list = stage.folder.file("pages")
        try writeFile(list, count) { url($0) + "\n" }
        let spider = try Peers.python("python", ["pages.py", stage.url, "\(Self.places)"])
        var contest = Contest([
            .init(name: "gannet work") {
                try await stage.clear()
                try await product.enqueue(list, count: count)
                let run = try await product.work(.init(concurrency: Self.places, hostLimit: 2 * Self.places), count, total: "fetched")
                return .init(count: count, seconds: run.seconds, cpuTime: run.cpuTime, peakMemory: run.peakMemory, redis: run.redis)
            },
            .init(
                name: "scrapy-redis", omits: "a page in flight is lost with its worker; no digest; no room is kept free in Redis",
                settings: spider.line
            ) { try await self.scrapy(spider, fewer, url) },
        ])
        try await contest.run(rounds: rounds)
        contest.printTable("Pages of 10 KB from a list in Redis into Redis, one host, \(Self.places) in flight, one process", unit: "page")
        try await origin.stop()
    }

    /// From its start until the last page is in Redis.
    private func scrapy(_ spider: Command, _ count: Int, _ url: (Int) -> String) async throws -> Contest.Run {
        try await stage.clear()
        let filling = stage.folder.file("filling")
        // It takes a bare URL too, with a warning for each.
        try writeFile(filling, count) { "LPUSH pages:start_urls '{\"url\": \"\(url($0))\"}'\n" }
        try await stage.pipe(filling)
        var took = Duration.zero
        var usage: ChildProcess.Usage?
        let redis = try await stage.work {
            let start = ContinuousClock.now
            let process = try ChildProcess(
                .init(spider.program, spider.arguments, environment: spider.environment, folder: spider.folder, output: .discarded))
            try await bounded("Scrapy has all pages", within: .seconds(600)) {
                while try await stage.redis.command("LLEN", "pages:items") != .integer(count) {
                    guard process.isRunning else { throw KitError("Scrapy has ended: \(process.errors.text)") }
                    // Seldom enough to cost nothing.
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            took = ContinuousClock.now - start
            process.terminate()
            usage = try await bounded("Scrapy ends") { try await process.usage }
        }
        return .init(
            count: count, seconds: took / .seconds(1), cpuTime: usage?.cpuTime ?? .zero, peakMemory: usage?.peakMemory ?? 0, redis: redis)
    }
}
