internal import GannetBase

/// A moment as records and indexes write it, to the millisecond.
struct WARCTime: Sendable, Hashable {
    let milliseconds: Int64

    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Times before 1970 and after the year 9999 become the nearest ones that have four digits.
    init(_ date: Date) {
        let seconds = date.timeIntervalSince1970
        milliseconds = seconds.isFinite ? Int64((min(max(seconds, 0), 253_402_300_799) * 1000).rounded()) : 0
    }

    /// `2026-01-31T12:00:00.123Z`.
    var text: String { UTCTime.text(Int(milliseconds)) }

    /// `20260131120000`.
    var timestamp: String { pad(parts[0], 4) + parts[1...5].map { pad($0) }.joined() }

    private var parts: [Int] {
        var seconds = time_t(milliseconds / 1000)
        var fields = tm()
        gmtime_r(&seconds, &fields)
        return [
            Int(fields.tm_year) + 1900, Int(fields.tm_mon) + 1, Int(fields.tm_mday), Int(fields.tm_hour), Int(fields.tm_min),
            Int(fields.tm_sec), Int(milliseconds % 1000),
        ]
    }

    private func pad(_ number: Int, _ digits: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
