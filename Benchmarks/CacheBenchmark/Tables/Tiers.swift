import BenchmarkKit
import Foundation
import GannetFetch
import GannetRedis
import GannetTestKit

/// How fast a fetcher serves answers from each of its tiers, and what a call costs if no tier has the answer.
enum Tiers {
    private static let files = 1000
    private static let atOnce = 64

    static func measure(isQuick: Bool) async throws {
        let calls = isQuick ? 20_000 : 200_000
        let folder = try TemporaryFolder()
        for number in 0..<files { try folder.write([UInt8](repeating: UInt8(number & 255), count: 10_000), to: "\(number)") }
        let origin = try await Origin.start(
            .init {
                $0.fileCount = 0
                $0.isFast = true
                $0.directives = """
                    location /kept/ { alias \(folder.path)/; add_header Cache-Control max-age=86400; }
                    location /passing/ { alias \(folder.path)/; add_header Cache-Control no-store; }
                    """
            })
        let redis = try await RedisServer.start()
        let cache = try await RedisCache.connect(RedisCacheOptions(redis: URL(filePath: redis.socketPath)))

        table(
            "`Fetcher.data(from:)`, \(grouped(files)) URLs of 10 KB, \(atOnce) callers; medians of 3 rounds", "from", "calls a second",
            "processor time for a call")
        let urls = (0..<files).map { origin.url("/kept/\($0)") }
        let memory = try Fetcher(.local)
        try await report("memory", memory, urls, calls)
        let disk = try Fetcher(.local { $0.diskFolder = URL(filePath: folder.file("cache")) })
        try await warm(disk, urls)
        try await report(
            "disk",
            try Fetcher(
                .local {
                    $0.diskFolder = URL(filePath: folder.file("cache"))
                    $0.memoryLimit = 0
                }), urls, calls / 4)
        try await warm(try Fetcher(.local { $0.shared = cache.shared }), urls)
        try await report(
            "shared (Redis)",
            try Fetcher(
                .local {
                    $0.shared = cache.shared
                    $0.memoryLimit = 0
                }), urls, calls / 4)

        let passing = (0..<files).map { origin.url("/passing/\($0)") }
        try await report("nowhere: the origin", try Fetcher(.local), passing, calls / 4)
        try await report(
            "nowhere, with a lease in Redis each", try Fetcher(.local { $0.shared = cache.shared }), passing, calls / 8)
        try await reportEngine(passing, calls / 4)
        await cache.close()
        try await redis.stop()
        try await origin.stop()
    }

    private static func warm(_ fetcher: Fetcher, _ urls: [String]) async throws {
        for url in urls { _ = try await fetcher.data(for: FetchRequest(url)) }
        await fetcher.close()
    }

    private static func report(_ name: String, _ fetcher: Fetcher, _ urls: [String], _ calls: Int) async throws {
        let requests = urls.map { FetchRequest($0) }
        for request in requests { _ = try await fetcher.data(for: request) }
        try await report(name, calls) { number in try await fetcher.data(for: requests[number % files]).count }
        await fetcher.close()
    }

    /// Measures the engine without a fetcher, to show the fetcher's overhead.
    private static func reportEngine(_ urls: [String], _ calls: Int) async throws {
        var options = FetchSettings()
        options.allowedNetworks = ["all"]
        options.maximumInFlight = atOnce
        let engine = try CurlDownloader(options)
        let requests = urls.map { DownloadRequest(url: $0, body: .memory(upTo: 1 << 20, thenFileIn: "/")) }
        try await report("the bare engine", calls) { number in Int(try await engine.download(requests[number % files]).byteCount) }
        engine.shutdown()
    }

    private static func report(_ name: String, _ calls: Int, _ call: @escaping @Sendable (Int) async throws -> Int) async throws {
        var runs: [(perSecond: Double, cpu: Double)] = []
        for _ in 0..<3 {
            let (start, cpu) = (ContinuousClock.now, cpuTime())
            try await withThrowingTaskGroup { group in
                for caller in 0..<atOnce {
                    group.addTask {
                        for number in stride(from: caller, to: calls, by: atOnce) {
                            guard try await call(number) == 10_000 else { throw KitError("a body has another length") }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let took = ContinuousClock.now - start
            runs.append((Double(calls) / (took / .seconds(1)), (cpuTime() - cpu) / .microseconds(1) / Double(calls)))
        }
        row(name, rate(runs.map(\.perSecond).median), time(runs.map(\.cpu).median))
    }
}

extension FetcherOptions {
    fileprivate static func local(_ change: (inout FetcherOptions) -> Void = { _ in }) -> FetcherOptions {
        FetcherOptions {
            $0.allowedNetworks = ["all"]
            change(&$0)
        }
    }

    fileprivate static var local: FetcherOptions { local() }
}
