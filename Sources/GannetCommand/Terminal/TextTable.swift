/// Rows whose columns are as wide as their widest entry; numbers stand right, names left.
struct TextTable: Sendable {
    enum Side: Sendable { case left, right }

    private let columns: [(title: String, side: Side)]
    private var rows: [[StyledText]] = []

    init(_ columns: [(title: String, side: Side)]) { self.columns = columns }

    /// A table of names, all of them left-aligned.
    init(_ titles: String...) { columns = titles.map { ($0, .left) } }

    mutating func add(_ row: [StyledText]) { rows.append(row) }
    mutating func add(_ row: String...) { rows.append(row.map { StyledText($0) }) }

    /// All of it, without colours.
    var text: String {
        lines(mostColumns: .max, TerminalStyle(hasColor: false, hasUnicode: true))
            .map { String($0.plain.reversed().drop { $0 == " " }.reversed()) }.joined(separator: "\n")
    }

    /// The titles, then the rows.
    /// - Parameter most: The widest a column may get. One long name must not push the others off the screen.
    func lines(mostColumns most: Int, _ style: TerminalStyle) -> [StyledText] {
        let all = [columns.map { StyledText($0.title, .faint) }] + rows
        let cut = all.map { row in row.map { $0.cut(to: most, style) } }
        let widths = columns.indices.map { column in cut.map { $0[column].width }.max() ?? 0 }
        return cut.map { row in
            var line = StyledText()
            for (index, text) in row.enumerated() {
                let blanks = StyledText(String(repeating: " ", count: widths[index] - text.width))
                let isLast = index == row.count - 1
                switch columns[index].side {
                case .right: line += blanks + text
                // No blanks at a line's end.
                case .left: line += isLast ? text : text + blanks
                }
                if !isLast { line += "  " }
            }
            return line
        }
    }
}
