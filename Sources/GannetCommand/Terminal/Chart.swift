/// A column for each value, over some rows, the highest of them full.
enum Chart {
    /// - Parameter values: `nil` where nothing is known: there the chart is blank.
    /// - Returns: Rows from the top, each as wide as there are values.
    static func rows(_ values: [Double?], height: Int, _ style: TerminalStyle) -> [String] {
        let top = values.compactMap(\.self).max() ?? 0
        let levels = style.levels
        return (0..<max(0, height)).map { row in
            let rowsBelow = height - 1 - row
            return String(
                values.map { value -> Character in
                    guard let value else { return " " }
                    // What is more than nothing is to be seen, and what is known to be nothing has a line to stand on.
                    let filled = top > 0 ? Int((max(0, value) / top * Double(height * levels.count)).rounded(.up)) : 0
                    let here = filled - rowsBelow * levels.count
                    if here <= 0 { return rowsBelow == 0 ? levels[0] : " " }
                    return levels[min(here, levels.count) - 1]
                })
        }
    }
}
