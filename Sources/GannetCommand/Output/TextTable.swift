/// Rows for people: columns as wide as their widest cell, the last one as it is, and no blanks behind it.
struct TextTable: Sendable {
    private var rows: [[String]]

    init(_ heading: String...) { rows = [heading] }

    mutating func add(_ cells: String...) { rows.append(cells) }

    var text: String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                line += cell
                if column < row.count - 1 { line += String(repeating: " ", count: widths[column] - cell.count + 2) }
            }
            return String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }
}
