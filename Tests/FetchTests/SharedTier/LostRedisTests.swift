import Foundation
import GannetFetch
import GannetRedis
import GannetTestKit
import Testing

/// Fetchers whose Redis is away, says nothing, or has no room.
@Suite(.timeLimit(.minutes(3))) struct LostRedisTests {
    private let shared = SharedNamespace()

    @Test func `while Redis is away fetchers go on without it`() async throws {
        let redis = try await RedisServer.start()
        let origin = try await Origin.start()
        let cache = try await shared.cache(redis)
        let fetcher = try shared.fetcher(cache)
        _ = try await fetcher.data(for: FetchRequest(origin.url("/1.bin")))
        try await redis.kill9()
        _ = try await fetcher.data(for: FetchRequest(origin.url("/2.bin")))
        #expect(fetcher.statistics.sharedUnavailable > 0)
        await cache.close()
        try await origin.stop()
    }

    @Test func `an answer is handed out although Redis has stopped replying`() async throws {
        try await withSilentRedis { _, downloader, call in
            downloader.open()
            let answer = try await call.value
            #expect(answer == Data("http://a/".utf8))
        }
    }

    @Test func `a fetcher is closed although Redis has stopped replying`() async throws {
        try await withSilentRedis { fetcher, _, call in
            await fetcher.close()
            await #expect(throws: FetchError.self) { try await call.value }
        }
    }

    /// Runs `body` while a download is held and Redis has stopped replying.
    private func withSilentRedis(_ body: (Fetcher, ScriptedDownloader, Task<Data, any Error>) async throws -> Void) async throws {
        let redis = try await RedisServer.start()
        let downloader = ScriptedDownloader { _ in .held }
        let cache = try await shared.cache(redis)
        var options = FetcherOptions.local
        options.shared = cache.shared
        let fetcher = try Fetcher(options, downloader: downloader)
        let call = Task { try await fetcher.data(for: FetchRequest("http://a/")) }
        await downloader.waitForStarts(1)
        redis.pause()
        try await body(fetcher, downloader, call)
        redis.resume()
        await fetcher.close()
        await cache.close()
        try await redis.stop()
    }

    @Test func `a body that Redis has no room for is no outage`() async throws {
        let redis = try await RedisServer.shared
        let body = String(repeating: "x", count: 2_000_000)
        let server = try HostileServer(
            .readUntil("\r\n\r\n"),
            .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: \(body.count)\r\n\r\n\(body)"), .silence)
        let cache = try await shared.cache(redis, bodyLimit: 1_000_000)
        let fetcher = try shared.fetcher(cache)
        _ = try await fetcher.data(for: FetchRequest("http://127.0.0.1:\(server.port)/"))
        await fetcher.close()
        #expect(fetcher.statistics.sharedRefused == 1 && fetcher.statistics.sharedUnavailable == 0)
        await cache.close()
        try await server.stop()
    }
}
