/// What a terminal's owner wants to see on it: colours or none, and which characters there are.
struct TerminalStyle: Sendable, Equatable {
    var hasColor: Bool
    var hasUnicode: Bool

    init(hasColor: Bool, hasUnicode: Bool) {
        self.hasColor = hasColor
        self.hasUnicode = hasUnicode
    }

    init(_ environment: [String: String]) {
        hasColor = (environment["NO_COLOR"] ?? "").isEmpty
        // The first of these that says something is what counts.
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let name = locale.lowercased()
        hasUnicode = name.contains("utf-8") || name.contains("utf8")
    }

    var filled: Character { hasUnicode ? "█" : "#" }
    var empty: Character { hasUnicode ? "░" : "." }
    var unknown: String { hasUnicode ? "—" : "-" }
    var ellipsis: String { hasUnicode ? "…" : "..." }

    /// Ever fuller ones, for the columns of a chart.
    var levels: [Character] { hasUnicode ? ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] : [".", ":", "|"] }

    enum Tint: Int, Sendable {
        case red = 31
        case green = 32
        case yellow = 33
        case faint = 2
        case bold = 1
    }

    /// The escapes take no room on the screen.
    func tinted(_ text: String, _ tint: Tint) -> String {
        hasColor && !text.isEmpty ? "\u{1b}[\(tint.rawValue)m\(text)\u{1b}[0m" : text
    }
}
