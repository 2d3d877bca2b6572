import Testing

@testable import GannetCommand

@Suite struct OutageWordsTests {
    @Test func `an outage is told once, and its end to who heard of it`() {
        var words = OutageWords()
        let start = ContinuousClock.now
        let before = words.ended()
        let first = words.began(at: start)
        let again = words.began(at: start + .seconds(200))
        #expect(!before && first == .tell && again == nil && words.isAway)
        let end = words.ended()
        let endAgain = words.ended()
        #expect(end && !endAgain && !words.isAway)
    }

    @Test func `a Redis that comes and goes all the time is told of now and then, with how often it was`() {
        var words = OutageWords()
        let start = ContinuousClock.now
        var told = 0
        for tenth in 0..<600 {
            let word = words.began(at: start + .milliseconds(100 * tenth))
            told += word == .keep ? 0 : 1
            let isEndTold = words.ended()
            #expect(isEndTold == (word != .keep))
        }
        #expect(told == 5)
        let next = words.began(at: start + .seconds(60))
        #expect(next == .tellAfter(595))
    }
}
