import Testing

@testable import ClusterState

@Suite struct TimeLeftTests {
    /// Marks once a second, of something that ends so many a second in each of these phases; and what had ended at last.
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

    @Test func `what goes evenly is told from the first second on, however slow it is`() {
        #expect(Self.estimate(1000, (1, 100)) == .seconds(10))
        #expect(Self.estimate(1000, (600, 100)) == .seconds(10))
        #expect(Self.estimate(50, (120, 0.5)) == .seconds(100))
        #expect(Self.estimate(0) == .zero)
    }

    @Test func `the time follows the last seconds, not the whole minute`() {
        #expect(Self.estimate(1000, (100, 100), (12, 50)) == .seconds(20))
        #expect(Self.estimate(1000, (100, 50), (12, 100)) == .seconds(10))
    }

    @Test func `once the speed has collapsed there is none, neither at once nor minutes later`() {
        for seconds in [3, 5, 10, 20, 60, 120, 240] {
            #expect(Self.estimate(1126, (300, 300), (seconds, 4.2)) == nil, "after \(seconds) s")
        }
        #expect(Self.estimate(1126, (300, 300), (60, 0)) == nil)
    }

    @Test func `there is none either while a rest of many that failed at once is the speed`() {
        #expect(Self.estimate(5000, (300, 2), (1, 900), (2, 2)) == nil)
    }

    @Test func `what stays slow for long becomes the usual, and is told again`() {
        let left = Self.estimate(1000, (60, 100), (1200, 5))
        #expect(left == .seconds(200))
    }

    @Test func `an estimate that has run out is not told again`() {
        // The last two of a list hang: at one a second they should have ended after two seconds.
        #expect(Self.estimate(2, (60, 1), (2, 0)) == .seconds(2.5))
        #expect(Self.estimate(2, (60, 1), (4, 0)) == nil)
        #expect(Self.estimate(600, (60, 1), (4, 0)) != nil)
    }

    @Test func `where nothing was seen there is nothing to tell`() {
        #expect(TimeLeft.estimate(open: 5, marks: []) == nil)
        #expect(TimeLeft.estimate(open: 5, marks: [.init(seconds: 0, ended: 9)]) == nil)
        #expect(TimeLeft.estimate(open: 5, marks: [.init(seconds: 0, ended: 0), .init(seconds: 0.1, ended: 9)]) == nil)
        #expect(TimeLeft.estimate(open: .max, marks: Self.marks([(300, 0.01)])) == nil)
    }
}
