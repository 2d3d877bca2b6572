import GannetBase

/// A terminal that can be drawn on, behind a descriptor.
struct Terminal: Sendable {
    struct Size: Sendable, Equatable {
        var columns: Int
        var rows: Int

        static let usual = Size(columns: 80, rows: 24)
    }

    let descriptor: Int32
    let style: TerminalStyle

    /// `nil` when it is no terminal, or one that can only print line after line.
    init?(_ descriptor: Int32, environment: [String: String] = Surroundings.current.environment) {
        guard isatty(descriptor) == 1, let kind = environment["TERM"], !kind.isEmpty, kind != "dumb" else { return nil }
        self.descriptor = descriptor
        style = TerminalStyle(environment)
    }

    /// Its present size: people resize their windows.
    var size: Size {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return .usual }
        return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// False for a program that was sent to the background (`&`): its drawing would mix with another program's output. A terminal that the
    /// program was not started from has no other program on it.
    var isForeground: Bool { Self.isForeground(on: descriptor) }

    static func isForeground(on descriptor: Int32) -> Bool {
        let owner = tcgetpgrp(descriptor)
        return owner < 0 || owner == getpgrp()
    }

    /// The text as one update, where the terminal supports that.
    static func atOnce(_ text: String) -> String { "\u{1b}[?2026h" + text + "\u{1b}[?2026l" }
}

/// Whether a terminal shows colours, and which characters it has.
struct TerminalStyle: Sendable, Equatable {
    var hasColor: Bool
    var hasUnicode: Bool

    var filled: Character { hasUnicode ? "█" : "#" }
    var empty: Character { hasUnicode ? "░" : "." }
    var unknown: String { hasUnicode ? "—" : "-" }
    var ellipsis: String { hasUnicode ? "…" : "..." }

    /// From low to high, for the columns of a chart.
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

extension TerminalStyle {
    init(_ environment: [String: String]) {
        hasColor = (environment["NO_COLOR"] ?? "").isEmpty
        // The first of these that is set counts.
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let name = locale.lowercased()
        hasUnicode = name.contains("utf-8") || name.contains("utf8")
    }
}
