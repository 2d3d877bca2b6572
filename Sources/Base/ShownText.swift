extension Unicode.Scalar {
    /// The table of what may be shown of a stranger's text. Control characters, marks that turn the direction of text, and ends of lines
    /// steer a terminal. Private and unassigned characters have no sign that everybody knows.
    package var isHarmless: Bool {
        // Most text is this.
        if (0x20..<0x7f).contains(value) { return true }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
        default: return true
        }
    }
}

extension UInt8 {
    /// A control character of ASCII, which no name and no line may have in it.
    @inlinable package var isControl: Bool { self < 0x20 || self == 0x7f }
}

extension String {
    /// The beginning of the text, with a stand-in for each character that is not harmless. An ellipsis follows where the text is cut.
    package func shown(atMost limit: Int = .max, standIn: Unicode.Scalar = "\u{FFFD}") -> String {
        let start = unicodeScalars.prefix(limit)
        let text = String(String.UnicodeScalarView(start.map { $0.isHarmless ? $0 : standIn }))
        return start.endIndex < unicodeScalars.endIndex ? text + "…" : text
    }

    /// The text with its lines, where each other character that is not harmless is written out.
    package var withoutSteering: String {
        guard !unicodeScalars.allSatisfy(\.isShownInLines) else { return self }
        return unicodeScalars.reduce(into: "") { result, scalar in
            if scalar.isShownInLines {
                result.unicodeScalars.append(scalar)
            } else {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isShownInLines: Bool { isHarmless || self == "\n" }
}
