// Linux only, as LateOrigin is.
import BenchmarkKit
import GannetTestKit

/// The program's speed and cost as one thing grows and all others stay: a table for each.
struct Growth {
    static let parts = ["waiting", "hosts", "size", "flight", "workers", "roundtrip"]

    let stage: Stage
    let isQuick: Bool

    /// The latency of an origin that is not near.
    static let latency = Duration.milliseconds(50)
    static let bodySize = 10_000
    static let places = 64

    init(_ stage: Stage, isQuick: Bool) {
        self.stage = stage
        self.isQuick = isQuick
    }

    func run(_ parts: [String]) async throws {
        Machine.raiseDescriptorLimit()
        for part in parts.isEmpty ? Self.parts : parts {
            switch part {
            case "waiting": try await waiting()
            case "hosts": try await hosts()
            case "size": try await size()
            case "flight": try await flight()
            case "workers": try await workers()
            case "roundtrip": try await roundtrip()
            default: throw KitError("growth knows \(Self.parts.joined(separator: ", "))")
            }
        }
    }

    /// A count of the whole run, or a hundredth of it.
    func scaled(_ count: Int) -> Int { isQuick ? max(1, count / 100) : count }

    /// Clears Redis and enqueues so many URLs.
    func fill(_ product: Product, _ count: Int, _ url: (Int) -> String) async throws {
        let list = stage.folder.file("growing")
        try await stage.clear()
        try writeFile(list, count) { url($0) + "\n" }
        try await product.enqueue(list, count: count)
    }

    /// How much of a queue is fetched to measure workers with so many places together, at the origin of 50 ms.
    func window(places: Int) -> SteadyRun.Window {
        let possible = Double(places) / (Self.latency / .seconds(1))
        let count = min(isQuick ? 500 : 40_000, Int(possible * (isQuick ? 0.3 : 8)))
        // All places are taken before anything is counted.
        let before = max(2 * places, min(count / 4, Int(possible)))
        return .init(before: before, count: max(4, count), after: 4 * places)
    }

    /// Workers with so many places each, at a host of their own with a latency.
    func late(_ product: Product, workers: Int = 1, places: Int, at origin: LateOrigin) async throws -> SteadyRun {
        let window = window(places: workers * places)
        note("an origin of \(seconds(Self.latency)), workers: \(workers), places: \(places), URLs: \(window.all)")
        try await fill(product, window.all) { origin.url("/a/path/of/usual/length/\($0)") }
        let settings = Product.Workers(count: workers, concurrency: places, hostLimit: min(10_000, 2 * workers * places))
        return try await product.steady(settings, at: origin, window)
    }
}
