/// Sizes as text: decimal (`20MB` = 20 × 10⁶) and binary (`20MiB` = 20 × 2²⁰) units.
package enum ByteCount {
    private static let units: [(name: String, bytes: Int)] = [
        ("TiB", 1 << 40), ("TB", 1_000_000_000_000), ("GiB", 1 << 30), ("GB", 1_000_000_000),
        ("MiB", 1 << 20), ("MB", 1_000_000), ("KiB", 1 << 10), ("KB", 1_000), ("kB", 1_000), ("B", 1), ("", 1),
    ]

    /// Reads `20MB`, `20MiB`, `512B` or plain bytes. Units keep their case: `Mb` would be bits.
    package static func parse(_ text: String) throws(InvalidValue) -> Int {
        let (number, unit) = Digits.split(text)
        guard Digits.areAll(number), let scale = units.first(where: { $0.name == unit })?.bytes else {
            throw InvalidValue("use a whole number with a unit, such as 500KB, 20MB (10^6) or 20MiB (2^20).")
        }
        guard let count = Int(number), case (let total, let overflow) = count.multipliedReportingOverflow(by: scale), !overflow else {
            throw InvalidValue("it is too large a size.")
        }
        return total
    }

    /// The shortest text that `parse` reads back as the same number.
    package static func text(of bytes: Int) -> String {
        guard bytes != 0, let unit = units.first(where: { bytes % $0.bytes == 0 && !$0.name.isEmpty }) else { return "\(bytes)B" }
        return "\(bytes / unit.bytes)\(unit.name)"
    }
}
