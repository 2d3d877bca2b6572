/// Lines at the bottom of what is printed that are drawn anew in place: says what to write for that, and writes nothing itself.
///
/// The cursor stays at the end of the last line. Between two drawings the terminal may have become narrower, and have broken lines that
/// fitted before: they are taken for as many rows as they need by then.
struct LiveArea: Sendable {
    private var widths: [Int] = []

    var isShown: Bool { !widths.isEmpty }

    /// How wide a line may be. One as wide as the screen would leave the cursor where terminals do not agree that it is. One that is wider
    /// than usual is broken when its window is made as narrow as most are, and a terminal may have done that before it says so: what is
    /// drawn then stands beside the pieces of what was drawn before.
    static func room(in columns: Int) -> Int { max(1, min(columns, Terminal.Size.usual.columns) - 1) }

    /// Takes the place of what was drawn before.
    mutating func draw(_ lines: [StyledText], in columns: Int, _ style: TerminalStyle) -> String {
        let cut = lines.map { $0.cut(to: Self.room(in: columns), style) }
        let text = toFirstRow(columns) + cut.map { $0.written(style) + "\u{1b}[K" }.joined(separator: "\r\n") + "\u{1b}[J"
        widths = cut.map(\.width)
        return text
    }

    /// Leaves the cursor where the first line was.
    mutating func erase(in columns: Int) -> String {
        guard isShown else { return "" }
        defer { widths = [] }
        return toFirstRow(columns) + "\u{1b}[J"
    }

    private func toFirstRow(_ columns: Int) -> String {
        let rows = widths.reduce(0) { $0 + max(1, ($1 + columns - 1) / max(1, columns)) }
        return rows > 1 ? "\r\u{1b}[\(rows - 1)A" : "\r"
    }
}
