internal import GannetBase

/// A point in time by the wall clock, with which HTTP's dates are compared.
///
/// Sums are clamped to the range of 64 bits: a number from an origin must not trap, nor turn a far future into the past.
package struct Moment: Sendable, Hashable, Comparable {
    package var millisecondsSince1970: Int64

    /// By this machine's clock.
    package static var now: Moment {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Moment(millisecondsSince1970: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    package init(millisecondsSince1970: Int64) { self.millisecondsSince1970 = millisecondsSince1970 }

    package static func < (left: Self, right: Self) -> Bool { left.millisecondsSince1970 < right.millisecondsSince1970 }

    package static func + (moment: Self, duration: Duration) -> Self {
        Moment(millisecondsSince1970: moment.millisecondsSince1970.addingSaturated(duration.saturatedMilliseconds))
    }

    package static func - (moment: Self, duration: Duration) -> Self {
        Moment(millisecondsSince1970: moment.millisecondsSince1970.subtractingSaturated(duration.saturatedMilliseconds))
    }

    /// The time from the earlier to the later moment; negative in the other order.
    package static func - (later: Self, earlier: Self) -> Duration {
        .milliseconds(later.millisecondsSince1970.subtractingSaturated(earlier.millisecondsSince1970))
    }

    package init(_ date: HTTPDate) {
        let (milliseconds, isOver) = date.secondsSince1970.multipliedReportingOverflow(by: 1000)
        self.init(millisecondsSince1970: isOver ? (date.secondsSince1970 < 0 ? .min : .max) : milliseconds)
    }

    /// As `Date` has it (RFC 9110, section 5.6.7), from the year 1 to the year 9999.
    var httpDate: String {
        var seconds = time_t(min(max(secondsSince1970, -62_135_596_800), 253_402_300_799))
        var fields = tm()
        gmtime_r(&seconds, &fields)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let date =
            "\(days[Int(fields.tm_wday)]), \(Self.padded(fields.tm_mday, 2)) \(months[Int(fields.tm_mon)]) \(Self.padded(fields.tm_year + 1900, 4))"
        return "\(date) \(Self.padded(fields.tm_hour, 2)):\(Self.padded(fields.tm_min, 2)):\(Self.padded(fields.tm_sec, 2)) GMT"
    }

    /// As RFC 3339 has it, in whole seconds, such as `2026-11-26T10:11:12Z`.
    package var timestamp: String {
        "\(UTCTime.text(Int(millisecondsSince1970)).prefix { $0 != "." })Z"
    }

    private static func padded(_ number: Int32, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    /// Whole seconds since 1970, without the fraction.
    var secondsSince1970: Int64 {
        millisecondsSince1970 >= 0 ? millisecondsSince1970 / 1000 : (millisecondsSince1970 + 1) / 1000 - 1
    }
}

extension Duration {
    /// Whole milliseconds without the fraction, clamped to 64 bits.
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
