/// A date and a time of day as they were written.
struct HTTPDateFields {
    var year: Int
    var yearHasCentury: Bool
    /// From 1 to 12.
    var month: Int
    var day: Int
    var hour: Int
    var minute: Int
    var second: Int

    /// A date without a century may be at most this far ahead: 50 years, as RFC 9110 has it.
    private static let farthest: Int64 = 50 * 31_556_952

    func seconds(now: Int64) -> Int64? {
        // A leap second is the last of its day, and the same as the first of the next.
        guard hour < 24, minute < 60, second < 60 || (second == 60 && minute == 59 && hour == 23) else { return nil }
        guard !yearHasCentury else { return seconds(year: year) }
        let centuries = stride(from: 9900, through: 0, by: -100)
        let years = centuries.lazy.map { $0 + year }
        let (limit, isOver) = now.addingReportingOverflow(Self.farthest)
        return years.first { isOver || (Self.days(year: $0, month: month, day: day) * 86_400) + secondOfDay <= limit }.flatMap(seconds)
    }

    private var secondOfDay: Int64 { Int64(hour * 3600 + minute * 60 + second) }

    private func seconds(year: Int) -> Int64? {
        guard (1...Self.length(ofMonth: month, year: year)).contains(day) else { return nil }
        return Self.days(year: year, month: month, day: day) * 86_400 + secondOfDay
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days since 1970 in the Gregorian calendar.
    private static func days(year: Int, month: Int, day: Int) -> Int64 {
        // Counted from 1 March of the year 0 (or of 400 years before), so that a leap day is the last of its year.
        let year = (month > 2 ? year : year - 1) + 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return Int64(year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468 - 146_097)
    }
}
