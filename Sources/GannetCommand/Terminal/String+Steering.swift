extension String {
    /// The text with its lines, and without anything that steers a terminal: control characters, and marks that turn the direction of text.
    var withoutSteering: String {
        guard unicodeScalars.contains(where: Self.steers) else { return self }
        var result = ""
        for scalar in unicodeScalars {
            if Self.steers(scalar) {
                result += "\\u{\(Swift.String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func steers(_ scalar: Unicode.Scalar) -> Bool {
        // Most text is this.
        if (0x20..<0x7f).contains(scalar.value) || scalar == "\n" { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}
