import Testing

@testable import GannetCommand

@Suite struct OutageWordsTests {
    @Test func `an outage is reported once, and its end only if its beginning was`() {
        var words = OutageWords()
        let start = ContinuousClock.now
        let before = words.ended()
        let first = words.began(at: start)
        let again = words.began(at: start + .seconds(200))
        #expect(!before && first == 0 && again == nil && words.isAway)
        let end = words.ended()
        let endAgain = words.ended()
        #expect(end && !endAgain && !words.isAway)
    }

    @Test func `outages of a flapping Redis are reported now and then, with their number`() {
        var words = OutageWords()
        let start = ContinuousClock.now
        var told = 0
        for tenth in 0..<600 {
            let word = words.began(at: start + .milliseconds(100 * tenth))
            told += word == nil ? 0 : 1
            let isEndTold = words.ended()
            #expect(isEndTold == (word != nil))
        }
        #expect(told == 5)
        let next = words.began(at: start + .seconds(60))
        #expect(next == 595)
    }
}
