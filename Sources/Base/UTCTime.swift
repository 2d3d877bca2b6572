/// A time as programs read it.
package enum UTCTime {
    /// `2026-11-22T01:50:25.123Z`
    /// - Parameter milliseconds: Since 1970.
    package static func text(_ milliseconds: Int) -> String {
        let time = min(max(milliseconds, 0), 253_402_300_799_999)
        var seconds = time_t(time / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let day = "\(digits(parts.tm_year + 1900, 4))-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))"
        let clock = "\(digits(parts.tm_hour)):\(digits(parts.tm_min)):\(digits(parts.tm_sec))"
        return "\(day)T\(clock).\(digits(Int32(time % 1000), 3))Z"
    }

    private static func digits(_ number: Int32, _ count: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
