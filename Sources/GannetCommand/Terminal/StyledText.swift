/// A line of text for a screen, made of pieces of which each has one colour; it knows how wide it is.
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

    /// In columns of the screen.
    var width: Int { pieces.reduce(0) { $0 + $1.text.columns } }

    /// Without its colours.
    var plain: String { pieces.map(\.text).joined() }

    /// Cut to a number of columns, with a sign that there was more.
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
    /// Nothing in it moves the cursor or rings a bell, whoever wrote it.
    var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.map { Self.isControl($0) ? "?" : $0 }))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }

    /// How many columns it takes. Where terminals differ, rather too many than too few: a line must not break.
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

extension Character {
    fileprivate var columns: Int {
        let first = unicodeScalars.first?.value ?? 0
        // From Hangul on, scripts whose characters are as wide as they are high, and pictures.
        return first >= 0x1100 && !(0x2000..<0x2e80).contains(first) || unicodeScalars.count > 1 && first >= 0x2000 ? 2 : 1
    }
}
