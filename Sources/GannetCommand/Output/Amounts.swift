import GannetBase

/// Numbers as people read them.
enum Amounts {
    /// `300 URLs`, `1 URL`.
    static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
    }

    /// `3 not permitted by their sites`.
    static func notPermitted(_ number: Int) -> String { "\(number) not permitted by \(number == 1 ? "its site" : "their sites")" }

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

    /// Bytes a second need not be a whole number.
    static func bytes(_ number: Double) -> String { bytes(whole(number)) }

    /// `812`, `7.3`, `0.4`: a number a second.
    static func rate(_ number: Double) -> String {
        number < 9.95 ? tenths(max(0, number)) : "\(whole(number))"
    }

    private static func whole(_ number: Double) -> Int { number.isFinite ? Int(min(1e15, max(0, number)).rounded()) : 0 }

    /// `0.4 s`, `3 min 20 s`, `2 h 5 min`.
    static func time(_ duration: Duration) -> String {
        let seconds = Int(duration.components.seconds)
        switch seconds {
        case ..<60: return "\(tenths(duration / .seconds(1))) s"
        case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
        default: return "\(seconds / 3600) h \(seconds / 60 % 60) min"
        }
    }

    /// `7 s left`: an estimate of what is not done yet, so never zero.
    static func timeLeft(_ duration: Duration) -> String { "\(roughTime(max(duration, .seconds(1)))) left" }

    /// `7 s`, `3 min 20 s`: for values that are no more exact than that.
    static func roughTime(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        return seconds < 60 ? "\(max(0, seconds)) s" : time(duration)
    }

    /// `20:14:05`, by this machine's clock and zone.
    /// - Parameter moment: In ms since 1970.
    static func clock(_ moment: Int) -> String {
        var (seconds, parts) = (time_t(moment / 1000), tm())
        localtime_r(&seconds, &parts)
        return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }

    /// `0.3 ms`, for times that are usually short.
    static func milliseconds(_ duration: Duration) -> String {
        duration < .seconds(1) ? "\(tenths(duration / .milliseconds(1))) ms" : time(duration)
    }

    private static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
