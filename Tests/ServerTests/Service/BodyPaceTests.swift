import Testing

@testable import Server

@Suite struct BodyPaceTests {
    private let start = ContinuousClock.now

    /// After how many seconds a client is too slow that sends a piece each so many seconds, within an hour.
    private func end(bytes: Int, each seconds: Int) -> Int? {
        var pace = BodyPace(at: start)
        for time in stride(from: seconds, through: 3600, by: seconds) {
            guard pace.came(at: start + .seconds(time)) else { return time }
            pace.took(bytes, at: start + .seconds(time))
        }
        return nil
    }

    @Test(arguments: [(1, 1, 31), (1, 10, 40), (640, 10, nil), (63, 1, 1858), (1_000_000, 3600, 3600)])
    func `a client has half a minute, and then a least speed`(bytes: Int, seconds: Int, ended: Int?) {
        #expect(end(bytes: bytes, each: seconds) == ended)
    }

    @Test func `a client stalls when it sends nothing although it is its turn`() {
        var pace = BodyPace(at: start)
        #expect(
            !pace.isStalled(at: start + .seconds(9), after: .seconds(10)) && pace.isStalled(at: start + .seconds(10), after: .seconds(10)))
        let isInTime = pace.came(at: start + .seconds(11))
        #expect(isInTime && !pace.isStalled(at: start + .seconds(1000), after: .seconds(10)))
        pace.took(1, at: start + .seconds(1000))
        #expect(pace.isStalled(at: start + .seconds(1010), after: .seconds(10)))
    }

    @Test func `the time in which the server reads is not the client's`() {
        var pace = BodyPace(at: start)
        // The same piece is offered again while there is no room for it.
        for second in 1..<1000 {
            let isInTime = pace.came(at: start + .seconds(second))
            #expect(isInTime)
        }
        pace.took(10, at: start + .seconds(1000))
        let isInTime = pace.came(at: start + .seconds(1029))
        #expect(isInTime)
    }
}
