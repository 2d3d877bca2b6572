import Testing

@testable import GannetBase

@Suite struct ShownTextTests {
    @Test(arguments: [
        ("a\u{1b}[31mb", "a\\u{1b}[31mb"), ("two\nlines", "two\nlines"), ("\r\t\0", "\\u{d}\\u{9}\\u{0}"), ("a\u{202e}b", "a\\u{202e}b"),
        ("ä 日本 👍", "ä 日本 👍"), ("", ""),
    ])
    func `control characters are written as escapes`(text: String, shown: String) {
        #expect(text.withoutSteering == shown)
    }

    @Test func `a character that steers, hides text or has no known sign is not harmless`() {
        let harmful: [Unicode.Scalar] = [
            "\0", "\n", "\u{1b}", "\u{7f}", "\u{9b}", "\u{ad}", "\u{200b}", "\u{202e}", "\u{2028}", "\u{2066}", "\u{feff}", "\u{e000}",
            "\u{378}",
            "\u{e0041}",
        ]
        for scalar in harmful { #expect(!scalar.isHarmless, "\(scalar.value)") }
        for scalar in " ~é日👍\u{301}\u{fffd}".unicodeScalars { #expect(scalar.isHarmless, "\(scalar.value)") }
        for byte in UInt8.min ... .max {
            #expect(byte.isControl == (byte < 0x80 && Unicode.Scalar(byte).properties.generalCategory == .control))
        }
    }

    @Test(arguments: [
        ("abc", 3, "abc"), ("abcd", 3, "abc…"), ("a\u{1b}b", 3, "a\u{FFFD}b"), ("\n\n\n", 2, "\u{FFFD}\u{FFFD}…"), ("", 0, ""),
        ("a", 0, "…"),
    ])
    func `a text is cut, and a stand-in takes the place of what is not harmless`(text: String, limit: Int, shown: String) {
        #expect(text.shown(atMost: limit) == shown)
    }
}
