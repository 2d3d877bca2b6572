package import HTTPEngine

/// Sums beyond either end of time are that end: what an origin wrote must not trap, nor make the past of a far future.
extension Moment {
    package static let distantPast = Moment(millisecondsSince1970: .min)
    package static let distantFuture = Moment(millisecondsSince1970: .max)

    package static func + (moment: Self, duration: Duration) -> Self {
        Moment(millisecondsSince1970: moment.millisecondsSince1970.addingSaturated(duration.saturatedMilliseconds))
    }

    package static func - (moment: Self, duration: Duration) -> Self {
        Moment(millisecondsSince1970: moment.millisecondsSince1970.subtractingSaturated(duration.saturatedMilliseconds))
    }

    /// The time from the earlier to the later; negative when they are the other way round.
    package static func - (later: Self, earlier: Self) -> Duration {
        .milliseconds(later.millisecondsSince1970.subtractingSaturated(earlier.millisecondsSince1970))
    }

    package init(_ date: HTTPDate) {
        let (milliseconds, isOver) = date.secondsSince1970.multipliedReportingOverflow(by: 1000)
        self.init(millisecondsSince1970: isOver ? (date.secondsSince1970 < 0 ? .min : .max) : milliseconds)
    }

    /// Whole seconds since 1970, the fraction dropped.
    var secondsSince1970: Int64 {
        millisecondsSince1970 >= 0 ? millisecondsSince1970 / 1000 : (millisecondsSince1970 + 1) / 1000 - 1
    }
}

extension Duration {
    /// Whole milliseconds, the fraction dropped; what does not fit is the most that does.
    var saturatedMilliseconds: Int64 {
        if self >= .milliseconds(Int64.max) { return .max }
        if self <= .milliseconds(Int64.min) { return .min }
        return components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}

extension Int64 {
    func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? (other < 0 ? .min : .max) : sum
    }

    func subtractingSaturated(_ other: Int64) -> Int64 {
        let (difference, isOver) = subtractingReportingOverflow(other)
        return isOver ? (other < 0 ? .max : .min) : difference
    }
}
