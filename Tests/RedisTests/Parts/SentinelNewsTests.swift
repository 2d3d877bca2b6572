import Testing

@testable import GannetRedisClient

@Suite struct SentinelNewsTests {
    private func word(_ port: Int, _ epoch: Int) -> SentinelWord {
        SentinelWord(primary: SentinelAddress.Host(name: "10.0.0.1", port: port), epoch: epoch)
    }

    @Test func `the word of a Sentinel that was cut off does not count beside a newer one`() {
        let news = SentinelNews()
        news.hear(word(1, 4))
        news.hear(word(2, 3))
        #expect(news.word == word(1, 4))
        news.hear(word(2, 5))
        #expect(news.word == word(2, 5))
    }

    @Test func `a Sentinel names a server with a port that there is`() throws {
        func answer(_ port: String) -> RedisReply { .array(["name", "p", "ip", "10.0.0.1", "port", .status(port), "config-epoch", "3"]) }
        #expect(try SentinelWord(answer("6379")) == word(6379, 3))
        for port in ["0", "-1", "65536", "x"] { #expect(throws: RedisError.self, "\(port)") { try SentinelWord(answer(port)) } }
    }

    @Test func `an older word of all Sentinels counts, unless a newer one comes meanwhile`() {
        let news = SentinelNews()
        news.hear(word(1, 4))
        let known = news.word
        news.set(word(2, 0), inPlaceOf: known)
        #expect(news.word == word(2, 0))
        news.hear(word(3, 1))
        news.set(word(4, 0), inPlaceOf: word(2, 0))
        #expect(news.word == word(3, 1))
    }
}
