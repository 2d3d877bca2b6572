import Testing

@testable import GannetCommand

@Suite struct StyledTextTests {
    private static let plain = TerminalStyle(hasColor: false, hasUnicode: true)

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("abcdef", 1, "…"), ("abcdef", 0, ""), ("", 3, ""), ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("e\u{301}e\u{301}e\u{301}", 3, "e\u{301}e\u{301}e\u{301}"),
    ])
    func `a line is cut to a number of columns, with a sign that there was more`(text: String, columns: Int, cut: String) {
        let line = StyledText(text).cut(to: columns, Self.plain)
        #expect(line.plain == cut)
        #expect(line.width <= columns)
    }

    @Test(arguments: [
        ("one two three", 8, 2, "one two\n  three"), ("one two", 7, 0, "one two"),
        ("http://long.example/word", 5, 0, "http://long.example/word"),
        ("a http://long.example/word b", 5, 0, "a\nhttp://long.example/word\nb"), ("  indented words", 11, 2, "  indented\n  words"),
        ("first\nsecond line", 7, 0, "first\nsecond\nline"), ("", 5, 0, ""),
    ])
    func `long lines break between words, and a long word stays whole`(text: String, columns: Int, indent: Int, broken: String) {
        #expect(text.wrapped(to: columns, indent: indent) == broken)
    }

    @Test func `colours take no room, and are closed where a line is cut`() {
        let style = TerminalStyle(hasColor: true, hasUnicode: false)
        let line = StyledText("abc", .red) + StyledText("def", .green) + "ghi"
        #expect(line.width == 9)
        #expect(line.cut(to: 8, style).written(style) == "\u{1b}[31mabc\u{1b}[0m\u{1b}[32mde\u{1b}[0m...")
        #expect(line.written(Self.plain) == "abcdefghi")
    }

    @Test func `control characters in text from others are replaced`() {
        #expect(StyledText("a\u{1b}[2Jb\r\nc\u{9b}1A\u{202e}d").plain == "a?[2Jb??c?1A?d")
    }

    @Test func `numbers stand right and names left, and long names are cut`() {
        var table = TextTable([("name", .left), ("n", .right), ("end", .left)])
        table.add("a", "10", "x")
        table.add("a name that is long", "7", "y")
        #expect(table.lines(mostColumns: 8, Self.plain).map(\.plain) == ["name       n  end", "a         10  x", "a name …   7  y"])
        #expect(table.text.hasSuffix("a name that is long   7  y"))
    }

    @Test func `on a screen a long last entry breaks between words, beside the other columns or below them`() {
        var table = TextTable("STATE", "URL", "REASON")
        table.add("dead", "http://h/1", "The server answered 404 there.")
        table.add("dead", "http://h/2", "short")
        let wide = """
            STATE  URL         REASON
            dead   http://h/1  The server answered
                               404 there.
            dead   http://h/2  short
            """
        #expect(table.text(columns: 40) == wide)
        let narrow = """
            STATE  URL         REASON
            dead   http://h/1
                The server answered
                404 there.
            dead   http://h/2  short
            """
        #expect(table.text(columns: 26) == narrow)
        #expect(table.text(columns: nil) == table.text && table.text(columns: 200) == table.text)
        table.add("dead", "http://h/3", "It is at http://a-long-host.example/path.")
        let last = table.text(columns: 40).split(separator: "\n").suffix(3)
        #expect(last == ["dead   http://h/3", "    It is at", "    http://a-long-host.example/path."])
    }

    @Test func `a terminal's owner decides on colours and characters`() {
        #expect(TerminalStyle(["LANG": "de_DE.UTF-8"]) == TerminalStyle(hasColor: true, hasUnicode: true))
        #expect(TerminalStyle(["LANG": "C.utf8", "NO_COLOR": "1"]) == TerminalStyle(hasColor: false, hasUnicode: true))
        #expect(TerminalStyle(["LANG": "de_DE.UTF-8", "LC_ALL": "C"]) == TerminalStyle(hasColor: true, hasUnicode: false))
        #expect(TerminalStyle(["NO_COLOR": ""]) == TerminalStyle(hasColor: true, hasUnicode: false))
    }
}
