/// Durations as text: a whole number and one unit.
package enum TimeSpan {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]

    /// Reads `500ms`, `8s`, `10m`, `24h`, `7d`. A number without a unit is refused: some tools mean seconds, some milliseconds.
    package static func parse(_ text: String) throws(InvalidValue) -> Duration {
        let (number, unit) = Digits.split(text)
        guard Digits.areAll(number), let scale = units.first(where: { $0.name == unit })?.milliseconds else {
            throw InvalidValue("use a whole number with a unit, such as 500ms, 8s, 10m, 24h or 7d.")
        }
        guard let count = Int64(number), case (let total, let overflow) = count.multipliedReportingOverflow(by: scale), !overflow else {
            throw InvalidValue("it is too long a time.")
        }
        return .milliseconds(total)
    }

    /// The shortest text that `parse` reads back as the same time, to the millisecond.
    package static func text(of duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        let (milliseconds, again) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        guard !overflow, !again else { return "\(seconds)s" }
        guard milliseconds != 0, let unit = units.first(where: { milliseconds % $0.milliseconds == 0 }) else { return "0s" }
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
}
