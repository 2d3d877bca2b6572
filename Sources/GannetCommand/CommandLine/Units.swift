/// Reads and writes durations as a whole number with one unit, such as `30s`.
enum TimeSpan {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]

    /// Reads `500ms`, `8s`, `10m`, `24h`, `7d`, and `8` as seconds, as curl, wget and aria2 do.
    static func parse(_ text: String) throws -> Duration {
        guard let (number, unit) = split(text), let scale = unit.isEmpty ? 1000 : units.first(where: { $0.name == unit })?.milliseconds
        else { throw UsageError("use a whole number with a unit, such as 500ms, 8s, 10m, 24h or 7d.") }
        guard let count = Int64(number), case (let total, let overflow) = count.multipliedReportingOverflow(by: scale), !overflow else {
            throw UsageError("it is too long a time.")
        }
        return .milliseconds(total)
    }

    /// The shortest text that `parse` reads back as the same time, to the millisecond.
    static func text(of duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        let (milliseconds, again) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        guard !overflow, !again else { return "\(seconds)s" }
        guard milliseconds != 0, let unit = units.first(where: { milliseconds % $0.milliseconds == 0 }) else { return "0s" }
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
}

/// Sizes and speeds as text: decimal (`20MB` = 20 × 10⁶) and binary (`20MiB` = 20 × 2²⁰) units. One letter is binary (`20M`), as curl, wget and
/// aria2 write it.
enum ByteCount {
    private static let units: [(name: String, bytes: Int)] = [
        ("TiB", 1 << 40), ("TB", 1_000_000_000_000), ("GiB", 1 << 30), ("GB", 1_000_000_000),
        ("MiB", 1 << 20), ("MB", 1_000_000), ("KiB", 1 << 10), ("KB", 1_000), ("kB", 1_000), ("B", 1), ("", 1),
    ]
    private static let letters = ["k": 10, "m": 20, "g": 30, "t": 40]

    /// Reads `20MB`, `20MiB`, `20M`, `1.5G`, `512B` or plain bytes. Units of two letters keep their case: `Mb` would be bits.
    static func parse(_ text: String) throws -> Int {
        let number = text.prefix { isDigit($0) || $0 == "." }
        let unit = text[number.endIndex...]
        let scale = letters[unit.lowercased()].map { 1 << $0 } ?? units.first { $0.name == unit }?.bytes
        guard let scale, number.contains(where: isDigit), !number.contains(".") || scale > 1, number.count(where: { $0 == "." }) <= 1 else {
            throw UsageError("use a number with a unit, such as 500KB, 20MB (10^6), 20MiB or 20M (2^20).")
        }
        if number.contains(".") {
            guard let bytes = Double(number).flatMap({ Int(exactly: ($0 * Double(scale)).rounded(.down)) }) else { throw tooLarge }
            return bytes
        }
        guard let count = Int(number), case (let total, let overflow) = count.multipliedReportingOverflow(by: scale), !overflow else {
            throw tooLarge
        }
        return total
    }

    private static var tooLarge: UsageError { UsageError("it is too large a size.") }

    /// The shortest text that `parse` reads back as the same number.
    static func text(of bytes: Int) -> String {
        guard bytes != 0, let unit = units.first(where: { bytes % $0.bytes == 0 && !$0.name.isEmpty }) else { return "\(bytes)B" }
        return "\(bytes / unit.bytes)\(unit.name)"
    }
}

/// `"20"` and `"MiB"` of `"20MiB"`; nil without a number.
private func split(_ text: String) -> (number: Substring, unit: Substring)? {
    let number = text.prefix(while: isDigit)
    return number.isEmpty ? nil : (number, text[number.endIndex...])
}

/// Other scripts' digits, which `Int` and `isNumber` accept, are refused on a command line, as is a sign.
func isDigit(_ character: Character) -> Bool { character.isASCII && character.isWholeNumber }
