import Foundation
import GannetFetch
import GannetRedis
import GannetTestKit
import Testing

/// Some thousand bytes that follow from the URL.
private struct GeneratingDownloader: Downloader {
    static func body(_ url: String) -> [UInt8] {
        var generator = SeededBytes(seed: url.utf8.reduce(5381) { $0 &* 33 &+ UInt64($1) })
        return generator.next(count: 2500)
    }

    func download(_ request: DownloadRequest, through gate: (any HopGate)?) async throws(FetchError) -> Download {
        Download(finalURL: request.url, headers: ResponseHeaders([("Cache-Control", "max-age=600")]), bytes: Self.body(request.url))
    }
}

struct BoundedRedisTests {
    /// `GANNET_BODIES=100000` for more of them.
    private static let count = ProcessInfo.processInfo.environment["GANNET_BODIES"].flatMap { Int($0) } ?? 6000

    @Test func `every body is right, also if the cache has room for only a part of them`() async throws {
        let redis = try await RedisServer.start()
        // Bodies of the last second are spared, so it has to hold more than those.
        let limit = max(10_000_000, 500 * Self.count)
        let cache = try await RedisCache.connect(
            RedisCacheOptions(redis: URL(filePath: redis.socketPath)) {
                $0.bodyLimit = limit
            })
        var options = FetcherOptions()
        options.shared = cache.shared
        options.memoryLimit = 0
        let fetcher = try Fetcher(options, downloader: GeneratingDownloader())
        let urls = (0..<Self.count).lazy.compactMap { URL(string: "http://a/\($0)") }
        var good = 0
        for await item in fetcher.results(for: urls)
        where (try? item.result.get()) == Data(GeneratingDownloader.body(item.url.absoluteString)) {
            good += 1
        }
        #expect(good == Self.count)
        let memory = try await redis.command("HGET", "{gannet:blob}count", "memory").text.flatMap { Int($0) } ?? 0
        #expect((1...limit).contains(memory))

        // The first ones had to go, and are as good as new.
        let first = try await fetcher.response(for: FetchRequest("http://a/0"))
        #expect(first.source == .network && first.data == Data(GeneratingDownloader.body("http://a/0")))
        #expect(try await fetcher.response(for: FetchRequest("http://a/0")).source == .shared)
        await fetcher.close()
        await cache.close()
        try await redis.stop()
    }
}
