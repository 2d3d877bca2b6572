import BenchmarkKit
import GannetTestKit

/// More bytes, more at once, more workers, and a longer way to Redis.
extension Growth {
    /// Bodies of 1 KB to 10 MB, kept in Redis. The whole run of a worker is counted, its start included.
    func size() async throws {
        let counts = [(3, 40_000), (4, 40_000), (5, 6000), (6, 800), (7, 80)]
        let origin = try await Origin.start(.init { $0.answersWithOwnBodies(ofPowers: counts.map(\.0)) })
        let product = Product(stage: stage)
        table(
            "Bodies of 1 KB to 10 MB kept in Redis, one nginx, \(Self.places) in flight, the worker's start included", "a body", "URLs",
            "a second", "MB a second", "worker's CPU a job", "worker's CPU a MB", "Redis' CPU a MB", "script calls a job", "worker's memory"
        )
        for (power, whole) in counts {
            let count = max(4, scaled(whole))
            let bytes = (0..<power).reduce(1) { size, _ in size * 10 }
            note("bodies of \(grouped(bytes)) bytes, URLs: \(count)")
            try await fill(product, count) { origin.url("/\(power)/\($0)") }
            let workers = Product.Workers(
                concurrency: Self.places, hostLimit: 2 * Self.places, options: ["--cache-limit", "4GB"])
            let run = try await product.work(workers, count, total: "fetched")
            let megabytes = Double(count * bytes) / 1_000_000
            row(
                bytes < 1_000_000 ? "\(bytes / 1000) KB" : "\(bytes / 1_000_000) MB", grouped(count), rate(Double(count) / run.seconds),
                tenths(megabytes / run.seconds), time(run.cpuTime.microseconds / Double(count)), time(run.cpuTime.microseconds / megabytes),
                time(run.redis.cpuTime.microseconds / megabytes), hundredths(Double(run.redis.statistics.scriptCalls) / Double(count)),
                memory([run.peakMemory]))
        }
        try await stage.clear()
        try await origin.stop()
    }

    /// 1 to 4,096 places of one worker.
    func flight() async throws {
        let origin = try LateOrigin(latency: Self.latency, bodySize: Self.bodySize)
        table(
            "Places of one worker, at an origin of \(seconds(Self.latency)): the possible is places ÷ latency",
            ["in flight"] + SteadyRun.columns + ["of the possible"])
        for places in [1, 4, 16, 64, 256, 1024, 4096] {
            let run = try await late(Product(stage: stage), places: places, at: origin)
            row([grouped(places)] + run.cells + [share(run, places)])
        }
        try await origin.stop()
    }

    /// 1 to 8 workers that share the machine and one Redis.
    func workers() async throws {
        let origin = try LateOrigin(latency: Self.latency, bodySize: Self.bodySize)
        table(
            "Workers of \(Self.places) places each, at an origin of \(seconds(Self.latency)); CPU is that of all workers",
            ["workers"] + SteadyRun.columns + ["of the possible"])
        for workers in [1, 2, 4, 8] {
            let run = try await late(Product(stage: stage), workers: workers, places: Self.places, at: origin)
            row(["\(workers)"] + run.cells + [share(run, workers * Self.places)])
        }
        try await origin.stop()
    }

    /// Redis at a distance.
    func roundtrip() async throws {
        table(
            "A round trip to Redis, one worker with \(Self.places) places",
            ["origin", "round trip"] + SteadyRun.columns + ["of the possible"])
        for latency in [Self.latency, .zero] {
            let origin = try LateOrigin(latency: latency, bodySize: Self.bodySize)
            for milliseconds in [0, 1, 5] {
                let proxy = try DelayingProxy(to: stage.redis, roundTrip: .milliseconds(milliseconds))
                let product = Product(stage: stage, redis: "unix://\(proxy.socketPath)")
                let run =
                    latency == .zero
                    ? try await near(product, at: origin) : try await late(product, places: Self.places, at: origin)
                row(
                    [latency == .zero ? "near" : seconds(latency), "\(milliseconds) ms"] + run.cells
                        + [latency == .zero ? "–" : share(run, Self.places)])
                try await proxy.stop()
            }
            try await origin.stop()
        }
    }

    private func near(_ product: Product, at origin: LateOrigin) async throws -> SteadyRun {
        let window = SteadyRun.Window(before: scaled(8000), count: scaled(40_000), after: 4 * Self.places)
        note("an origin without latency, URLs: \(window.all)")
        try await fill(product, window.all) { origin.url("/a/path/of/usual/length/\($0)") }
        return try await product.steady(.init(concurrency: Self.places, hostLimit: 2 * Self.places), at: origin, window)
    }

    /// The part of the possible URLs a second at the origin with a latency.
    private func share(_ run: SteadyRun, _ places: Int) -> String {
        hundredths(run.perSecond * (Self.latency / .seconds(1)) / Double(places))
    }
}
