import BenchmarkKit
import GannetTestKit

/// More jobs that wait, and more hosts.
extension Growth {
    /// Names below `localhost`: no program asks a name server for them.
    private static func url(_ number: Int, hosts: Int, _ origin: LateOrigin) -> String {
        "http://host\(number % hosts).names.localhost:\(origin.port)/a/path/of/usual/length/\(number)"
    }

    /// A thousand to ten million jobs that wait, on 1,000 hosts.
    func waiting() async throws {
        let origin = try LateOrigin(latency: .zero, bodySize: Self.bodySize)
        let product = Product(stage: stage)
        table(
            "Jobs that wait, of 1,000 host names, at an origin without latency; `status` is the whole command",
            ["waiting"] + SteadyRun.columns + ["`status`", "its CPU", "Redis' CPU for it", "Redis' memory"])
        for depth in [1000, 10_000, 100_000, 1_000_000, 10_000_000] where depth <= scaled(10_000_000) {
            // A short queue is filled again and again, so that it never gets much shorter than its row says.
            let most = isQuick ? 500 : 30_000
            let count = min(most, max(1, depth * 6 / 10))
            let window = SteadyRun.Window(before: min(isQuick ? 100 : 6000, depth / 5), count: count, after: depth / 5)
            var run = SteadyRun()
            var status: Status?
            for round in 1...(isQuick ? 1 : min(10, most / count)) {
                note("\(grouped(depth)) jobs wait, round \(round)")
                try await fill(product, depth) { Self.url($0, hosts: 1000, origin) }
                if round == 1 { status = try await self.status(product) }
                run.add(try await product.steady(.init(concurrency: Self.places, hostLimit: 2 * Self.places), at: origin, window))
            }
            guard let status else { continue }
            row(
                [grouped(depth)] + run.cells
                    + [time(status.microseconds), time(status.own), time(status.redis), megabytes(status.memory)])
        }
        try await stage.clear()
        try await origin.stop()
    }

    /// A million URLs on one host, and on up to a million.
    func hosts() async throws {
        let origin = try LateOrigin(latency: .zero, bodySize: Self.bodySize)
        let product = Product(stage: stage)
        let urls = scaled(1_000_000)
        let window = SteadyRun.Window(before: scaled(5000), count: scaled(40_000), after: scaled(10_000))
        table(
            "Host names, \(grouped(urls)) URLs of which most go on waiting, at an origin without latency",
            ["hosts"] + SteadyRun.columns + ["Redis' memory before"])
        for hosts in [1, 10, 100, 1000, 10_000, 100_000, 1_000_000] where hosts <= urls {
            note("\(grouped(hosts)) hosts")
            try await fill(product, urls) { Self.url($0, hosts: hosts, origin) }
            let used = try await stage.usedMemory()
            let run = try await product.steady(.init(concurrency: Self.places, hostLimit: 2 * Self.places), at: origin, window)
            row([grouped(hosts)] + run.cells + [megabytes(used)])
        }
        try await stage.clear()
        try await origin.stop()
    }

    /// The cost of one `gannet status`, in microseconds, and Redis' memory at that time, in bytes.
    private struct Status {
        let microseconds: Double
        let own: Double
        let redis: Double
        let memory: Int
    }

    private func status(_ product: Product) async throws -> Status {
        let rounds = isQuick ? 3 : 21
        let command = product.command(["status"])
        // The first may load a script.
        _ = try await command.run()
        var ends: [Command.End] = []
        let work = try await stage.work {
            for _ in 0..<rounds { ends.append(try await command.run()) }
        }
        return Status(
            microseconds: ends.map { $0.seconds * 1_000_000 }.median, own: ends.map(\.usage.cpuTime.microseconds).median,
            redis: work.cpuTime.microseconds / Double(rounds), memory: try await stage.usedMemory())
    }

    private func megabytes(_ bytes: Int) -> String { "\(grouped(bytes / 1_000_000)) MB" }
}
