extension String {
    /// The text without control characters and at most 300 characters long: what a stranger sent must not steer a terminal.
    package var escapedForDisplay: String {
        var result = ""
        for (index, scalar) in unicodeScalars.enumerated() {
            if index == 300 { return result + "…" }
            // Includes the marks that reverse the direction of text.
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: result += "\\u{\(Swift.String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
