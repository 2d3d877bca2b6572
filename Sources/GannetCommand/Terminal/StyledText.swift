import GannetBase

/// A line of text for a screen, made of pieces of one colour each. It knows how wide it is.
struct StyledText: Sendable, Equatable, ExpressibleByStringLiteral {
    private struct Piece: Sendable, Equatable {
        var text: String
        var tint: TerminalStyle.Tint?
    }

    private var pieces: [Piece] = []

    init(_ text: String = "", _ tint: TerminalStyle.Tint? = nil) {
        if !text.isEmpty { pieces = [Piece(text: text.printable, tint: tint)] }
    }

    init(stringLiteral text: String) { self.init(text) }

    static func + (one: StyledText, other: StyledText) -> StyledText {
        var sum = one
        sum.pieces += other.pieces
        return sum
    }

    static func += (one: inout StyledText, other: StyledText) { one = one + other }

    /// Columns of the screen.
    var width: Int { pieces.reduce(0) { $0 + $1.text.columns } }

    var plain: String { pieces.map(\.text).joined() }

    /// Cut to a number of columns, with an ellipsis at the end.
    func cut(to columns: Int, _ style: TerminalStyle) -> StyledText {
        guard width > columns else { return self }
        let sign = columns >= style.ellipsis.count ? style.ellipsis : ""
        var left = max(0, columns - sign.columns)
        var result = StyledText()
        for piece in pieces {
            let kept = piece.text.prefix(columns: left)
            left -= kept.columns
            if !kept.isEmpty { result.pieces.append(Piece(text: kept, tint: piece.tint)) }
            if kept.count < piece.text.count { break }
        }
        return result + StyledText(sign)
    }

    func written(_ style: TerminalStyle) -> String {
        pieces.map { piece in piece.tint.map { style.tinted(piece.text, $0) } ?? piece.text }.joined()
    }
}

extension String {
    /// The text for a screen, where the stand-in takes one column in every font.
    var printable: String { shown(standIn: "?") }

    /// How many columns it takes. Where terminals differ this is the larger number, since a line must not break.
    var columns: Int { reduce(0) { $0 + $1.columns } }

    func prefix(columns limit: Int) -> String {
        var left = limit
        return String(
            prefix { character in
                left -= character.columns
                return left >= 0
            })
    }
}

extension String {
    /// Its lines broken between words where they are wider than the screen. A word that is wider stays whole, so that a URL can be copied.
    /// - Parameter indent: Blanks before each further line.
    func wrapped(to width: Int, indent: Int = 0) -> String {
        split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var lines: [String] = []
            var current = ""
            for (index, word) in line.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
                let longer = index == 0 ? String(word) : current + " " + word
                if longer.columns > width, current.contains(where: { $0 != " " }) {
                    lines.append(current)
                    current = String(repeating: " ", count: indent) + word
                } else {
                    current = longer
                }
            }
            return (lines + [current]).joined(separator: "\n")
        }.joined(separator: "\n")
    }
}

extension Character {
    fileprivate var columns: Int {
        let first = unicodeScalars.first?.value ?? 0
        // From Hangul on: scripts with square characters, and pictures.
        return first >= 0x1100 && !(0x2000..<0x2e80).contains(first) || unicodeScalars.count > 1 && first >= 0x2000 ? 2 : 1
    }
}
