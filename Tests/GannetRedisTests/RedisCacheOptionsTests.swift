import GannetRedis
import Testing

struct RedisCacheOptionsTests {
    @Test(arguments: ["rediss://user:hunter2@redis.example.com", "redis://:hun/hunter2?@redis.example.com"])
    func `options are printed without their password`(address: String) {
        let options = RedisCacheOptions(redis: address)
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
            { $0.redis = "http://h" },
        ] as [@Sendable (inout RedisCacheOptions) -> Void])
    func `an option that cannot be used is a usage error`(change: @Sendable (inout RedisCacheOptions) -> Void) async {
        let options = RedisCacheOptions(redis: "redis://127.0.0.1:1", change)
        let error = await #expect(throws: RedisError.self) { try await RedisCache.connect(options) }
        #expect(error?.reason == .usage && error?.description.contains("--") == false)
    }

    @Test func `a Redis that cannot be reached is unavailable`() async {
        let error = await #expect(throws: RedisError.self) {
            try await RedisCache.connect(RedisCacheOptions(redis: "unix:///nonexistent/redis.sock"))
        }
        #expect(error?.reason == .unavailable)
    }
}
