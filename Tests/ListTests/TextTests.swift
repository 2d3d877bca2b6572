import Testing

@testable import Lists

@Suite struct TextTests {
    private func rows(_ text: String, limit: Int = ListLimits.row, cut size: Int) throws -> [Row] {
        var splitter = LineSplitter(TextLines(), limit: limit)
        var rows = RowBatch()
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            try bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { try splitter.take($0, into: &rows) }
        }
        try splitter.finish(into: &rows)
        return Array(rows)
    }

    @Test(arguments: 1...24)
    func `line ends of both kinds, comments and blank lines, wherever a chunk ends`(size: Int) throws {
        let text = "http://a/\r\n\n# no\n  http://b/\t\r\n\t\r\n#\nhttp://c/#d\nlast"
        #expect(try rows(text, cut: size) == [.url(1, "http://a/"), .url(4, "http://b/"), .url(7, "http://c/#d"), .url(8, "last")])
    }

    @Test(arguments: 1...24)
    func `a line longer than the limit is skipped to its end, and reported with its number`(size: Int) throws {
        let text =
            "abc\nabcdefgh\nabcdefghi\nabcdefgh\r\n" + String(repeating: "x", count: 1000) + "\nend\n" + String(repeating: "y", count: 9)
        let tooLong = RowProblem.tooLong(limit: 8)
        #expect(
            try rows(text, limit: 8, cut: size) == [
                .url(1, "abc"), .url(2, "abcdefgh"), .invalid(3, tooLong), .url(4, "abcdefgh"), .invalid(5, tooLong), .url(6, "end"),
                .invalid(7, tooLong),
            ])
    }

    @Test(arguments: ["", "\n", "\r\n\r\n", "\u{FEFF}", "\u{FEFF}\n", "# only\n", " \t \n"])
    func `an empty list has no rows`(text: String) throws {
        #expect(try Listed.rows(text) == [])
    }

    @Test func `a byte order mark is no part of the first URL`() throws {
        #expect(try Listed.rows("\u{FEFF}http://a/\n") == [.url(1, "http://a/")])
    }

    @Test func `a NUL byte makes its line invalid and no other`() throws {
        #expect(try Listed.rows("a\nb\0c\nd") == [.url(1, "a"), .invalid(2, .nul), .url(3, "d")])
    }

    @Test func `bytes that are no UTF-8 pass through`() throws {
        #expect(try Listed.rows([0xFF, 0xC0, 0x0A]) == [Row(.line(1), .url([0xFF, 0xC0]))])
    }
}
