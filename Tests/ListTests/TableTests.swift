import Testing

@testable import Lists

@Suite struct TableTests {
    private func options(_ change: (inout ListOptions) -> Void) -> ListOptions {
        var options = ListOptions()
        change(&options)
        return options
    }

    @Test(arguments: 1...40)
    func `a column with a usual name is found, whichever columns stand around it`(size: Int) throws {
        let text = "\u{FEFF}id,Image-URL,text\r\n1,http://a/,x\r\n\r\n2, http://b/ ,\n3,http://c/"
        #expect(try Listed.rows(text, cut: size) == [.url(2, "http://a/"), .url(4, "http://b/"), .url(5, "http://c/")])
    }

    @Test(arguments: [
        ("a,url\n1,http://a/\n", ","), ("a\turl\n1\thttp://a/,b;c\n", "\t"), ("a;url\n1;http://a/,b\n", ";"),
        ("url\nhttp://a/;b,c\n", "none"),
    ])
    func `cells may be divided by commas, tabs or semicolons`(text: String, delimiter: String) throws {
        let rows = try Listed.rows(text)
        #expect(rows.count == 1)
        #expect(rows.first?.place == .line(2))
        guard case .url(let url) = rows.first?.content else {
            Issue.record("no URL in \(rows)")
            return
        }
        #expect(String(decoding: url, as: UTF8.self).hasPrefix("http://a/"))
    }

    @Test(arguments: 1...40)
    func `quoted cells hold delimiters, quotes and line breaks`(size: Int) throws {
        let text = "\"the id\",note,\"url\"\r\n\"a\"\"b\",\"one\r\ntwo, \"\"three\"\"\n\",http://a/\n,\"\",\"http://b/?x=1,2\"\n"
        let rows = try Listed.rows(text, cut: size, options { $0.idColumn = "the id" })
        #expect(rows == [.url(2, "http://a/", id: "a\"b"), .url(5, "http://b/?x=1,2")])
    }

    @Test func `a column is taken by its name, with or without its case`() throws {
        let text = "url,Picture,picture\nhttp://a/,http://b/,http://c/\n"
        #expect(try Listed.rows(text, options { $0.column = "picture" }) == [.url(2, "http://c/")])
        #expect(try Listed.rows(text, options { $0.column = "PICTURE" }) == [.url(2, "http://b/")])
    }

    @Test func `the error about a missing column names the columns that exist`() throws {
        let text = "name,address\nx,http://a/\n"
        #expect(throws: ListError.noSuchColumn(nil, columns: ["name", "address"])) { try Listed.rows(text) }
        #expect(throws: ListError.noSuchColumn("url", columns: ["name", "address"])) {
            try Listed.rows(text, options { $0.column = "url" })
        }
        #expect(throws: ListError.noSuchColumn("id", columns: ["name", "address"])) {
            try Listed.rows(text, options { ($0.column, $0.idColumn) = ("address", "id") })
        }
    }

    @Test func `rows that are too short, empty or hold a NUL byte are invalid, and keep their ids`() throws {
        let text = "id,x,url\n1\n2,,\n3,,a\0b\n4,,c\n"
        #expect(
            try Listed.rows(text, options { $0.idColumn = "id" }) == [
                .invalid(2, .noColumn, id: "1"), .invalid(3, .empty, id: "2"), .invalid(4, .nul, id: "3"), .url(5, "c", id: "4"),
            ])
    }

    @Test func `an id beyond its limit makes its row invalid`() throws {
        let long = String(repeating: "i", count: Row.longestID)
        let rows = try Listed.rows("id,url\n\(long),a\n\(long)i,b\n", options { $0.idColumn = "id" })
        #expect(rows == [.url(2, "a", id: long), .invalid(3, .idTooLong(limit: Row.longestID))])
    }

    @Test(arguments: 1...40)
    func `a stray quote costs the line it is in and no other`(size: Int) throws {
        let text = "id,url\n1,\"http://a/\n2,http://b/\n3,\"http://c/\"\n4,http://d/\n5,\"x\"y\n6,http://e/\n7,\"http://f/\n"
        #expect(
            try Listed.rows(text, cut: size) == [
                .invalid(2, .badQuoting), .url(3, "http://b/"), .url(4, "http://c/"), .url(5, "http://d/"), .invalid(6, .badQuoting),
                .url(7, "http://e/"), .invalid(8, .unclosedQuote),
            ])
    }

    @Test func `a quote that nothing closes is given up at the limit, and the lines behind it are read`() throws {
        var splitter = LineSplitter(TableRows(delimiter: UInt8(ascii: ","), options: ListOptions(), limit: 100))
        var rows = RowBatch()
        let text = "id,url\n0,\"stray\n" + (1...50).map { "\($0),http://h/\($0)\n" }.joined()
        try Array(text.utf8).withUnsafeBytes { try splitter.take($0, into: &rows) }
        try splitter.finish(into: &rows)
        #expect(Array(rows) == [.invalid(2, .unclosedQuote)] + (1...50).map { .url($0 + 2, "http://h/\($0)") })
    }

    @Test func `a table whose header cannot be read is an error`() throws {
        #expect(throws: ListError.badHeader(.badQuoting)) { try Listed.rows("\"url\"x,b\nhttp://a/,1\n") }
        #expect(throws: ListError.badHeader(.unclosedQuote)) { try Listed.rows("\"url,b\nhttp://a/,1\n") }
        let wide = (0...WantedColumns.limit).map { "c\($0)" }.joined(separator: ",")
        #expect(throws: ListError.tooManyColumns(limit: WantedColumns.limit)) { try Listed.rows("url,\(wide)\n1,2\n", cut: 5000) }
    }
}
