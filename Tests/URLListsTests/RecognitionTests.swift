import Testing

@testable import URLLists

@Suite struct RecognitionTests {
    @Test(arguments: [
        ("http://a/,b\nhttp://c/,d\n", ListKind.text), ("# url,id\nhttp://a/\n", .text), ("junk, or not\nhttp://a/\n", .text),
        ("junk\n", .text),
        ("", .text), ("\n \n", .text), ("url\n", .table(delimiter: 44)), ("URL\r\nhttp://a/", .table(delimiter: 44)),
        ("id,url", .table(delimiter: 44)), ("id\turl\n1\thttp://a/,b\n", .table(delimiter: 9)), ("id;url\n1;a\n", .table(delimiter: 59)),
        ("name,place\nx,y\n", .table(delimiter: 44)), ("\"some\nname\",b\n", .table(delimiter: 44)), ("\n\n{\"a\":1}", .jsonLines),
        (" <urlset>", .sitemap), ("\u{FEFF}<urlset>", .sitemap), ("\u{FEFF}url,b\nx,y\n", .table(delimiter: 44)),
    ])
    func `a list is told by its first bytes`(text: String, kind: ListKind) throws {
        #expect(try ListRecognition(head: Array(text.utf8), isWhole: true, options: ListOptions()).kind() == kind)
    }

    @Test(arguments: ["h", "junk", "url", "id,url\n", "id,url\n1", "\u{FEFF}", " \n", "P", "\"a"])
    func `what could still become something else is waited for`(text: String) throws {
        #expect(try ListRecognition(head: Array(text.utf8), isWhole: false, options: ListOptions()).kind() == nil)
    }

    @Test(arguments: ["http://", "#", "junk\n", "{", "<", "id,url\n1,"])
    func `what cannot is decided at once`(text: String) throws {
        #expect(try ListRecognition(head: Array(text.utf8), isWhole: false, options: ListOptions()).kind() != nil)
    }

    @Test(arguments: [
        [0x50, 0x4B, 3, 4], [0x28, 0xB5, 0x2F, 0xFD], [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], Array("BZh9".utf8), Array("PAR1".utf8),
        [0xFF, 0xFE, 0x68, 0], [0xFE, 0xFF, 0, 0x68],
    ])
    func `what cannot be read is called by its name`(bytes: [UInt8]) {
        #expect {
            try Listed.rows(bytes, cut: 1)
        } throws: {
            if case .other = $0 as? ListError { true } else { false }
        }
    }

    @Test func `a JSON array is no JSON lines`() {
        #expect(throws: ListError.jsonArray) { try Listed.rows("[\n{\"url\": 1}]") }
    }

    @Test func `a format that is named is believed`() throws {
        var options = ListOptions()
        options.format = .text
        #expect(try Listed.rows("id,url\n1,http://a/\n", options) == [.url(1, "id,url"), .url(2, "1,http://a/")])
        options.format = .csv
        #expect(try Listed.rows("x;url\n1;a\n", options) == [.url(2, "a")])
        options.format = .sitemap
        #expect(throws: ListError.badXML(line: 1)) { try Listed.rows("http://a/", options) }
    }

    @Test(arguments: [
        (ListError.Option.column, "http://a/\n", ListFormat.text), (.idColumn, "http://a/\n", .text), (.field, "url,b\nx,y\n", .csv),
        (.field, "url\tb\nx\ty\n", .tsv), (.column, "{}\n", .jsonl), (.idColumn, "<urlset/>", .sitemap),
    ])
    func `an option that means nothing here is an error`(option: ListError.Option, text: String, format: ListFormat) throws {
        var options = ListOptions()
        options.format = format
        switch option {
        case .column: options.column = "x"
        case .idColumn: options.idColumn = "x"
        case .field: options.field = "x"
        }
        #expect(throws: ListError.optionDoesNotApply(option, format)) { try Listed.rows(text, options) }
    }
}
