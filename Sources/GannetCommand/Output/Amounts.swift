/// Numbers as people read them.
enum Amounts {
    /// `300 URLs`, `1 URL`.
    static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
    }

    /// `3.1 MB`, in the decimal units that options take too.
    static func bytes(_ number: Int) -> String {
        let units = ["kB", "MB", "GB", "TB"]
        guard number >= 1000 else { return "\(number) B" }
        var value = Double(number) / 1000
        var unit = 0
        while value >= 999.95, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        return "\(tenths(value)) \(units[unit])"
    }

    /// `0.4 s`, `3 min 20 s`, `2 h 5 min`.
    static func time(_ duration: Duration) -> String {
        let seconds = Int(duration.components.seconds)
        switch seconds {
        case ..<60: return "\(tenths(duration / .seconds(1))) s"
        case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
        default: return "\(seconds / 3600) h \(seconds / 60 % 60) min"
        }
    }

    private static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
