/// Parts of error sentences.
package enum Sentence {
    /// `a`, `a or b`, `a, b or c`.
    package static func alternatives(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }

    /// What someone typed, fit to be shown: control characters (which could drive a terminal) are replaced, and its
    /// length is bounded.
    package static func quoted(_ text: String, limit: Int = 200) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse:
                shown.append("\u{FFFD}")
            default:
                shown.append(scalar)
            }
        }
        return "'" + String(shown) + (text.unicodeScalars.count > limit ? "…" : "") + "'"
    }
}
