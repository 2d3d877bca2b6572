import GannetBase
import Testing

@Suite struct LagTests {
    private let start = ContinuousClock.now

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    @Test func `a part that mostly waits has no lag`() {
        let lag = Lag(at: start)
        for turn in 0..<100 {
            lag.begin(at: at(turn * 100))
            lag.end(at: at(turn * 100 + 1))
        }
        #expect(lag.average(at: at(10_000)) < .microseconds(100))
    }

    @Test func `the lag of a part without a pause is as long as its turns`() {
        let lag = Lag(at: start)
        for turn in 0..<100 {
            lag.begin(at: at(turn * 40))
            lag.end(at: at(turn * 40 + 40))
        }
        let found = lag.average(at: at(4000))
        #expect(found > .milliseconds(39) && found <= .milliseconds(40))
        // And it is forgotten within a second or two.
        #expect(lag.average(at: at(6000)) < .milliseconds(1))
    }

    @Test func `a turn that has not ended counts as far as it has come`() {
        let lag = Lag(at: start)
        lag.begin(at: start)
        #expect(lag.average(at: at(2000)) > .seconds(1))
        // To look changes nothing.
        lag.end(at: at(1))
        #expect(lag.average(at: at(1)) < .milliseconds(1))
    }
}
