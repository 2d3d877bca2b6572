import Testing

@testable import GannetHTTP

/// The looks at a body that comes, with made-up times.
@Suite struct BodyPaceTests {
    /// A timeout of 60 s with windows of 30 s, 100 bytes a second in the first minute, and 1000 later.
    private var pace = BodyPace(timeout: .seconds(60), window: .seconds(30), first: 100, lasting: 1000)
    private let start = ContinuousClock.now

    private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

    @Test mutating func `a body may go on for as long as each window brings enough, whatever its size`() {
        pace.begins(at: start)
        for window in 0..<1000 {
            let begin = Double(window) * 30
            #expect(pace.due.map { $0 <= at(begin + 30) } == true)
            pace.came(30_000, at: at(begin + 29))
            #expect(pace.look(at: at(begin + 30)) == .moves)
        }
    }

    @Test mutating func `after the timeout a body has to be faster`() {
        pace.begins(at: start)
        for window in 0..<2 {
            pace.came(3000, at: at(Double(window) * 30 + 29))
            #expect(pace.look(at: at(Double(window) * 30 + 30)) == .moves)
        }
        pace.came(29_999, at: at(89))
        #expect(pace.look(at: at(90)) == .isSlow(bytes: 29_999, within: .seconds(30)))
    }

    @Test mutating func `a body that brings nothing for a window stands still, whatever came before`() {
        pace.begins(at: start)
        pace.came(1_000_000, at: at(10))
        #expect(pace.look(at: at(30)) == .moves)
        #expect(pace.due == at(40))
        #expect(pace.look(at: at(39)) == .moves)
        #expect(pace.look(at: at(40)) == .standsStill(for: .seconds(30)))
    }

    @Test mutating func `a window in whose second half nothing comes is a standstill, and one with too little is slow`() {
        pace.begins(at: start)
        pace.came(2999, at: at(14))
        #expect(pace.look(at: at(30)) == .standsStill(for: .seconds(16)))
        pace.came(2999, at: at(46))
        #expect(pace.look(at: at(60)) == .isSlow(bytes: 2999, within: .seconds(30)))
    }

    @Test mutating func `a body from which nothing is wanted may be slow, but does not stand still`() {
        var pace = BodyPace(timeout: .seconds(60), window: .seconds(30), first: 0, lasting: 0)
        pace.begins(at: start)
        pace.came(1, at: at(1))
        #expect(pace.look(at: at(30)) == .moves)
        #expect(pace.look(at: at(31)) == .standsStill(for: .seconds(30)))
    }

    @Test mutating func `the time of our own limit belongs to no window`() {
        pace.begins(at: start)
        pace.isHeldBack(at: at(1))
        #expect(pace.due == nil)
        #expect(pace.look(at: at(500)) == .moves)
        pace.came(1, at: at(1000))
        #expect(pace.due == at(1029))
        pace.isHeldBack(at: at(1001))
        pace.came(2999, at: at(2000))
        #expect(pace.look(at: at(2028)) == .moves)
    }

    @Test mutating func `an origin gains no time by breaking off`() {
        pace.begins(at: start)
        pace.came(10, at: at(20))
        pace.breaks(at: at(20))
        #expect(pace.due == nil)
        pace.begins(at: at(100))
        #expect(pace.due == at(110))
        pace.came(10, at: at(109))
        #expect(pace.look(at: at(110)) == .isSlow(bytes: 20, within: .seconds(30)))
    }

    @Test func `the time in which a body moved is given back, and its silence is not`() {
        var patience = pace
        patience.begins(at: at(5))
        patience.came(1, ofBody: true, at: at(45))
        patience.breaks(at: at(70))
        #expect(patience.grace == .seconds(40))
    }

    @Test func `a body that nobody wants has the rest of the timeout, without the time of our own limit`() {
        var patience = pace
        patience.isHeldBack(at: at(5))
        #expect(patience.nextLook(atBody: false, deadline: at(60)) == nil)
        patience.came(1, ofBody: false, at: at(15))
        #expect(patience.grace == .seconds(10))
        #expect(patience.nextLook(atBody: false, deadline: at(70)) == at(70))
    }

    @Test func `the bound for one transfer follows from its size`() {
        var settings = FetchSettings()
        #expect(settings.longestTransfer == .seconds(150 + 100_000))
        settings.maximumBody = 1_000_000
        settings.timeout = .seconds(10)
        #expect(settings.longestTransfer == .seconds(25 + 1000))
        settings.maximumSpeed = 1_000_000
        #expect(settings.longestTransfer == .seconds(25 + 1000 + 64))
    }
}
