import Foundation
import GannetFetch
import GannetRedis
import GannetTestKit
import Testing

struct RedisCacheOptionsTests {
    private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test(arguments: ["rediss://user:hunter2@redis.example.com", "redis://:hun%2Fhunter2%3F@redis.example.com"])
    func `options are printed without their password`(address: String) throws {
        let options = RedisCacheOptions(redis: try Self.url(address))
        let printing = Printing(of: options)
        #expect(printing.text(showing: "hun") == nil && printing.shows("redis.example.com"), "\(printing.texts)")
    }

    @Test func `nor does a cache print what it is connected to, or a URL`() async throws {
        let redis = try await RedisServer.start(
            .init {
                $0.arguments = ["--requirepass", "hunter2"]
                $0.listensOnTCP = true
            })
        let port = try #require(redis.port)
        let cache = try await RedisCache.connect(RedisCacheOptions(redis: try Self.url("redis://:hunter2@127.0.0.1:\(port)")))
        // Its outcome is under way while the server does not answer.
        let downloader = ScriptedDownloader { _ in
            redis.pause()
            return .body("hunter2")
        }
        let fetcher = try Fetcher(FetcherOptions { $0.shared = cache.shared }, downloader: downloader)
        _ = try await fetcher.data(for: FetchRequest("http://h.example/?token=hunter2"))
        let values: [Any] = [cache, cache.shared, fetcher]
        for value in values { #expect(Printing(of: value).text(showing: "hun") == nil) }
        redis.resume()
        await fetcher.close()
        await cache.close()
        try await redis.stop()
    }

    @Test(
        arguments: [
            { $0.lease = .milliseconds(999) }, { $0.bodyLimit = 999_999 }, { $0.namespace = "" }, { $0.namespace = "{a}" },
            { $0.redis = URL(filePath: "/").appending(path: "a\0b") }, { $0.passwordFile = URL(string: "https://example.com/password") },
        ] as [@Sendable (inout RedisCacheOptions) -> Void])
    func `an option that cannot be used is a usage error`(change: @Sendable (inout RedisCacheOptions) -> Void) async throws {
        let options = RedisCacheOptions(redis: try Self.url("redis://127.0.0.1:1"), change)
        let error = await #expect(throws: RedisError.self) { try await RedisCache.connect(options) }
        #expect(error?.reason == .usage && error?.description.contains("--") == false)
    }

    @Test func `a URL of another scheme is a usage error`() async throws {
        let options = RedisCacheOptions(redis: try Self.url("http://h"))
        let error = await #expect(throws: RedisError.self) { try await RedisCache.connect(options) }
        #expect(error?.reason == .usage)
    }

    @Test(arguments: ["unix:///nonexistent/redis.sock", "file:///nonexistent/redis.sock"])
    func `a Redis that cannot be reached is unavailable`(address: String) async throws {
        let options = RedisCacheOptions(redis: try Self.url(address))
        let error = await #expect(throws: RedisError.self) { try await RedisCache.connect(options) }
        #expect(error?.reason == .unavailable)
    }
}
