extension String {
    /// The text with its lines, and with everything written out that steers a terminal: control characters, and marks that turn the
    /// direction of text.
    package var withoutSteering: String {
        guard unicodeScalars.contains(where: \.steers) else { return self }
        return unicodeScalars.reduce(into: "") { result, scalar in
            if scalar.steers {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var steers: Bool {
        // Most text is this.
        if (0x20..<0x7f).contains(value) || self == "\n" { return false }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}
