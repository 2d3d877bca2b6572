/// Numbers as people type them: ASCII digits and nothing else (`Int("+5")` and other scripts' digits are surprises).
enum Digits {
    static func areAll(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    /// Splits `"20MiB"` into `"20"` and `"MiB"`.
    static func split(_ text: String) -> (number: Substring, unit: Substring) {
        let number = text.prefix { $0.isASCII && $0.isWholeNumber }
        return (number, text[number.endIndex...])
    }
}
