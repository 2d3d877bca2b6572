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

    /// A last entry that breaks has this many columns beside the others, or lines of its own.
    private static let leastRoom = 20
    /// Blanks before a last entry on lines of its own.
    private static let indent = 4

    /// All of it, without colours.
    var text: String { plainLines.joined(separator: "\n") }

    /// All of it for a screen, without colours. Entries of the last column that are too long break between words.
    func text(columns screen: Int?) -> String {
        guard let screen, columns.last?.side == .left else { return text }
        let all = [columns.map { StyledText($0.title) }] + rows
        let start = columns.indices.dropLast().reduce(0) { sum, column in sum + 2 + (all.map { $0[column].width }.max() ?? 0) }
        return zip(plainLines, all).map { line, row in
            line.columns > screen ? Self.broken(line, last: row.last?.plain ?? "", at: start, to: screen) : line
        }.joined(separator: "\n")
    }

    private var plainLines: [String] {
        lines(mostColumns: .max, TerminalStyle(hasColor: false, hasUnicode: true)).map { Self.withoutEnd($0.plain) }
    }

    private static func broken(_ line: String, last: String, at start: Int, to screen: Int) -> String {
        let longest = last.split(separator: " ").map { String($0).columns }.max() ?? 0
        let isBeside = screen - start >= max(leastRoom, longest)
        let blanks = isBeside ? start : indent
        let entry = (String(repeating: " ", count: blanks) + last).wrapped(to: screen, indent: blanks)
        let others = line.prefix(columns: start)
        return isBeside ? others + entry.dropFirst(blanks) : withoutEnd(others) + "\n" + entry
    }

    private static func withoutEnd(_ line: String) -> String { String(line.reversed().drop { $0 == " " }.reversed()) }

    /// The titles, then the rows.
    /// - Parameter most: The widest a column may get. One long name must not push the others off the screen. Text in the last column pushes none.
    func lines(mostColumns most: Int, _ style: TerminalStyle) -> [StyledText] {
        let all = [columns.map { StyledText($0.title, .faint) }] + rows
        let cut = all.map { row in
            row.enumerated().map { $0 == row.count - 1 && columns[$0].side == .left ? $1 : $1.cut(to: most, style) }
        }
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
