import Testing

@testable import GannetHTTP

@Suite struct MomentTests {
    @Test func `an earlier moment is less than a later one`() {
        #expect(Moment(millisecondsSince1970: -1) < Moment(millisecondsSince1970: 0))
    }

    @Test func `durations are added and subtracted to the millisecond`() {
        #expect(Moment.came + .milliseconds(1500) - .seconds(1) == Moment(millisecondsSince1970: 1_717_200_000_500))
        #expect((Moment.came + .milliseconds(1500)) - .came == .milliseconds(1500))
        #expect(Moment.came - (.came + .milliseconds(1500)) == .milliseconds(-1500))
        #expect(Moment.came + .nanoseconds(1_999_999) == .came + .milliseconds(1))
    }

    @Test(arguments: [
        Duration.milliseconds(Int64.max), .milliseconds(Int64.min), .seconds(Int64.max), .seconds(Int64.min),
        .seconds(Int64.max) * 18, .seconds(Int64.min) * 18,
    ])
    func `sums beyond the ends of time are an end of time`(duration: Duration) {
        let isAhead = duration > .zero
        for moment in [Moment.came, .distantPast, .distantFuture, Moment(millisecondsSince1970: 0)] {
            #expect(isAhead ? moment + duration >= moment : moment + duration <= moment)
            #expect(isAhead ? moment - duration <= moment : moment - duration >= moment)
        }
        #expect(Moment.came + duration == (isAhead ? .distantFuture : Moment.came + .milliseconds(Int64.min)) || !isAhead)
        #expect(Moment.distantFuture + duration == .distantFuture || !isAhead)
        #expect(Moment.distantPast + duration == .distantPast || isAhead)
    }

    @Test func `the whole of time has a length`() {
        #expect(Moment.distantFuture - .distantPast == .milliseconds(Int64.max))
        #expect(Moment.distantPast - .distantFuture == .milliseconds(Int64.min))
    }

    @Test(arguments: [(0, 0), (1, 0), (999, 0), (1000, 1), (-1, -1), (-1000, -1), (-1001, -2)] as [(Int64, Int64)])
    func `a fraction of a second belongs to the second that began before it`(milliseconds: Int64, seconds: Int64) {
        #expect(Moment(millisecondsSince1970: milliseconds).secondsSince1970 == seconds)
    }

    @Test func `the dates of headers are moments`() throws {
        let date = try #require(HTTPDate("Sat, 01 Jun 2024 00:00:00 GMT", now: 0))
        #expect(Moment(date) == .came)
        #expect(HTTPLines.date(0) == "Sat, 01 Jun 2024 00:00:00 GMT")
    }
}
