import Foundation
import GannetRedis
import Testing

struct RedisCacheOptionsTests {
    private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test(arguments: ["rediss://user:hunter2@redis.example.com", "redis://:hun%2Fhunter2%3F@redis.example.com"])
    func `options are printed without their password`(address: String) throws {
        let options = RedisCacheOptions(redis: try Self.url(address))
        var dumped = ""
        dump(options, to: &dumped)
        dump(["key": Optional(options)], to: &dumped)
        let texts = [
            "\(options)", String(reflecting: options), "\([options])", "\(Optional(options) as Any)",
            "\(Mirror(reflecting: options).children.map { "\($0.value)" })", dumped,
        ]
        for text in texts { #expect(text.contains("redis.example.com") && !text.contains("hun"), "\(text)") }
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
