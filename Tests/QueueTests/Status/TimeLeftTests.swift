import Testing

@testable import GannetQueue

@Suite struct TimeLeftTests {
    /// Marks once a second, for jobs that end at a fixed speed in each of these phases.
    private static func marks(_ phases: [(seconds: Int, perSecond: Double)]) -> [TimeLeft.Mark] {
        var (marks, seconds, ended) = ([TimeLeft.Mark(seconds: 0, ended: 0)], 0.0, 0.0)
        for phase in phases {
            for _ in 0..<phase.seconds {
                seconds += 1
                ended += phase.perSecond
                marks.append(.init(seconds: seconds, ended: Int(ended)))
            }
        }
        return marks
    }

    private static func estimate(_ open: Int, _ phases: (Int, Double)...) -> Duration? {
        TimeLeft.estimate(open: open, marks: marks(phases.map { (seconds: $0.0, perSecond: $0.1) }))
    }

    @Test func `an even speed gives an estimate from the first second on, however slow it is`() {
        #expect(Self.estimate(1000, (1, 100)) == .seconds(10))
        #expect(Self.estimate(1000, (600, 100)) == .seconds(10))
        #expect(Self.estimate(50, (120, 0.5)) == .seconds(100))
        #expect(Self.estimate(0) == .zero)
    }

    @Test func `the estimate follows the last seconds, not the whole minute`() {
        #expect(Self.estimate(1000, (100, 100), (12, 50)) == .seconds(20))
        #expect(Self.estimate(1000, (100, 50), (12, 100)) == .seconds(10))
    }

    @Test func `a speed that has collapsed gives no estimate, neither at once nor minutes later`() {
        for seconds in [3, 5, 10, 20, 60, 120, 240] {
            #expect(Self.estimate(1126, (300, 300), (seconds, 4.2)) == nil, "after \(seconds) s")
        }
        #expect(Self.estimate(1126, (300, 300), (60, 0)) == nil)
    }

    @Test func `a burst of jobs that failed at once gives no estimate while it makes up the speed`() {
        #expect(Self.estimate(5000, (300, 2), (1, 900), (2, 2)) == nil)
    }

    @Test func `a speed that stays slow for long becomes the usual speed, and gives an estimate again`() {
        let left = Self.estimate(1000, (60, 100), (1200, 5))
        #expect(left == .seconds(200))
    }

    @Test func `an estimate that has run out is not repeated`() {
        // The last two jobs of a list hang. At one job a second they should have ended after two seconds.
        #expect(Self.estimate(2, (60, 1), (2, 0)) == .seconds(2.5))
        #expect(Self.estimate(2, (60, 1), (4, 0)) == nil)
        #expect(Self.estimate(600, (60, 1), (4, 0)) != nil)
    }

    @Test func `without marks there is no estimate`() {
        #expect(TimeLeft.estimate(open: 5, marks: []) == nil)
        #expect(TimeLeft.estimate(open: 5, marks: [.init(seconds: 0, ended: 9)]) == nil)
        #expect(TimeLeft.estimate(open: 5, marks: [.init(seconds: 0, ended: 0), .init(seconds: 0.1, ended: 9)]) == nil)
        #expect(TimeLeft.estimate(open: .max, marks: Self.marks([(300, 0.01)])) == nil)
    }
}
