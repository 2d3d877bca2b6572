/// What is on a whole screen, and what to write to make it something else: the rows that differ, and only those.
struct ScreenFrame: Sendable {
    private var rows: [String] = []
    private var size: Terminal.Size?

    /// - Returns: Nothing where nothing has changed.
    mutating func update(_ lines: [StyledText], _ size: Terminal.Size, _ style: TerminalStyle) -> String {
        var text = ""
        if self.size != size {
            // Terminals move things about when they are resized, each in its own way.
            text += "\u{1b}[H\u{1b}[2J"
            rows = [String](repeating: "", count: size.rows)
            self.size = size
        }
        for row in 0..<size.rows {
            let line = row < lines.count ? lines[row].cut(to: max(1, size.columns - 1), style).written(style) : ""
            guard line != rows[row] else { continue }
            rows[row] = line
            text += "\u{1b}[\(row + 1);1H\(line)\u{1b}[K"
        }
        return text.isEmpty ? "" : Terminal.atOnce(text)
    }

    /// The screen is no more what it was: all of it is written next time.
    mutating func forget() { size = nil }
}
