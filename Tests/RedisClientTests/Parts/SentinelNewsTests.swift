import Testing

@testable import RedisClient

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
