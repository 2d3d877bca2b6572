import GannetTestKit
import Testing

@testable import Lists

@Suite struct RecognitionTests {
    @Test(arguments: [
        ("http://a/,b\nhttp://c/,d\n", ListKind.text), ("# url,id\nhttp://a/\n", .text), ("junk, or not\nhttp://a/\n", .text),
        ("junk\n", .text),
        ("", .text), ("\n \n", .text), ("url\n", .table(delimiter: 44)), ("URL\r\nhttp://a/", .table(delimiter: 44)),
        ("id,url", .table(delimiter: 44)), ("id\turl\n1\thttp://a/,b\n", .table(delimiter: 9)), ("id;url\n1;a\n", .table(delimiter: 59)),
        ("name,place\nx,y\n", .table(delimiter: 44)), ("\"some\nname\",b\n", .table(delimiter: 44)), ("\n\n{\"a\":1}", .jsonLines),
        (" <urlset>", .sitemap), ("\u{FEFF}<urlset>", .sitemap), ("\u{FEFF}url,b\nx,y\n", .table(delimiter: 44)),
    ])
    func `a list's format is recognised by its first bytes`(text: String, kind: ListKind) throws {
        #expect(try ListRecognition(head: Array(text.utf8), isWhole: true, options: ListOptions()).kind() == kind)
    }

    @Test(arguments: ["h", "junk", "url", "id,url\n", "id,url\n1", "\u{FEFF}", " \n", "P", "\"a", "http://", "#", "{", "<", "a\0\n"])
    func `a beginning that fits several formats is not decided yet`(text: String) throws {
        #expect(try ListRecognition(head: Array(text.utf8), isWhole: false, options: ListOptions()).kind() == nil)
    }

    @Test(arguments: ["http://\n", "#\n", "junk\n", "{\n", "<\n", "id,url\n1,"])
    func `a beginning that fits one format is decided at once`(text: String) throws {
        #expect(try ListRecognition(head: Array(text.utf8), isWhole: false, options: ListOptions()).kind() != nil)
    }

    @Test(arguments: [
        [0x50, 0x4B, 3, 4], [0x28, 0xB5, 0x2F, 0xFD], [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], Array("BZh9".utf8), Array("PAR1".utf8),
        [0xFF, 0xFE, 0x68, 0], [0xFE, 0xFF, 0, 0x68], Array("%PDF-1.7\n".utf8),
    ])
    func `a format that cannot be read is named in the error`(bytes: [UInt8]) {
        #expect {
            try Listed.rows(bytes, cut: 1)
        } throws: {
            if case .other = $0 as? ListError { true } else { false }
        }
    }

    /// The beginnings of files that were given in place of a list, each cut in several ways.
    private static let binaries: [(name: String, bytes: [UInt8])] = {
        var random = SeededBytes(seed: 7)
        let header: [UInt8] = [0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 1, 0, 0, 0, 1, 0, 8, 2, 0, 0, 0, 0xD3, 0x10, 0x3F, 0x31]
        let png = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + header + random.next(count: 2000)
        let elf = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9) + [3, 0, 0x3E, 0, 1] + random.next(count: 40)
        return [
            ("PNG", png), ("ELF", elf), ("archive", Array("a/name.txt".utf8) + [UInt8](repeating: 0, count: 90) + Array("0644\n".utf8)),
        ]
            + (0..<50).map { number in ("random \(number)", random.next(count: 40 + 60 * number)) }
    }()

    @Test(arguments: [1, 100, 1000], [nil, .text, .csv] as [ListFormat?])
    func `a binary file is refused as a whole, whichever format the user names`(
        cut: Int, format: ListFormat?
    ) {
        var options = ListOptions()
        options.format = format
        var passed = 0
        for (name, bytes) in Self.binaries {
            do {
                _ = try Listed.rows(bytes, cut: cut, options)
                // A few random bytes before a line's end can be text.
                if name.hasPrefix("random") { passed += 1 } else { Issue.record("\(name) was read") }
            } catch {
                #expect(error as? ListError == .other("a binary file; a list of URLs is text"), "\(name)")
            }
        }
        #expect(passed <= 1)
    }

    @Test(
        arguments: [
            "http://h/\n", "url,id\r\nhttp://h/ü,1\r\n", "\n{\"url\": \"http://h/\"}", String(repeating: "# ö\nhttp://h/\n", count: 300),
        ],
        [nil, .text] as [ListFormat?])
    func `UTF-16 is named as such, with its byte order and the command that converts it`(text: String, format: ListFormat?) {
        var options = ListOptions()
        options.format = format
        let low: [UInt8] = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let high: [UInt8] = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let unmarked = "text that looks like UTF-16 without a byte order mark; UTF-8 is what can be read, and 'iconv -f"
        let marked = "text in UTF-16; UTF-8 is what can be read, and 'iconv -f UTF-16 -t UTF-8' makes it"
        for cut in [1, 100, 10_000] {
            #expect(throws: ListError.other("\(unmarked) UTF-16LE -t UTF-8' makes it")) { try Listed.rows(low, cut: cut, options) }
            #expect(throws: ListError.other("\(unmarked) UTF-16BE -t UTF-8' makes it")) { try Listed.rows(high, cut: cut, options) }
            #expect(throws: ListError.other(marked)) { try Listed.rows([0xFF, 0xFE] + low, cut: cut, options) }
            #expect(throws: ListError.other(marked)) { try Listed.rows([0xFE, 0xFF] + high, cut: cut, options) }
        }
    }

    @Test func `NULs in other places are those of a binary file`() {
        let binary = ListError.other("a binary file; a list of URLs is text")
        let wide: [UInt8] = "http://h/\n".utf8.flatMap { [$0, 0, 0, 0] as [UInt8] }
        let seldom: [UInt8] = [UInt8](repeating: 1, count: 40) + "http://h/".utf8.flatMap { [$0, 0] as [UInt8] } + [0x0A]
        for bytes in [wide, seldom, [UInt8](repeating: 0, count: 40)] { #expect(throws: binary) { try Listed.rows(bytes, cut: 100) } }
    }

    @Test(arguments: [
        Array("http://h/ü\nhttp://h/🐦\n".utf8), [UInt8]("http://h/".utf8) + [0xFC, 0x0A] + Array("http://h/b\n".utf8),
        Array("# \u{1B}[1mmine\u{1B}[0m\u{7}\nhttp://a.example/\n".utf8),
        Array("http://a.example/with\u{1}one\nhttp://b.example/and\0another\nhttp://c.example/\n".utf8),
        [UInt8](repeating: 0xE9, count: 700) + [0x0A],
    ])
    func `text in any encoding is read, also with a stray control character`(bytes: [UInt8]) throws {
        for cut in [1, bytes.count] { #expect(try !Listed.rows(bytes, cut: cut).isEmpty) }
    }

    @Test(
        arguments: [
            "<!DOCTYPE html>\n<html>", "<!doctype html><title>x<p>", "\u{FEFF}\n <HTML lang=en>\n<br>", "<html\nlang=en>",
            "<?xml version=\"1.0\"?>\n<html xmlns=\"http://www.w3.org/1999/xhtml\">",
        ], [nil, .sitemap] as [ListFormat?])
    func `a web page is called one, also when it is no XML`(page: String, format: ListFormat?) {
        var options = ListOptions()
        options.format = format
        for cut in [1, 100] { #expect(throws: ListError.webPage) { try Listed.rows(Array(page.utf8), cut: cut, options) } }
    }

    @Test func `a JSON array is no JSON lines`() {
        #expect(throws: ListError.jsonArray) { try Listed.rows("[\n{\"url\": 1}]") }
    }

    @Test func `a list is read in the format that the user names`() throws {
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
        (.field, "url\tb\nx\ty\n", .tsv), (.column, "{}\n", .jsonl), (.idColumn, "<urlset/>", .sitemap), (.carry, "<urlset/>", .sitemap),
    ])
    func `an option that does not fit the format is an error`(option: ListError.Option, text: String, format: ListFormat) throws {
        var options = ListOptions()
        options.format = format
        switch option {
        case .column: options.column = "x"
        case .idColumn: options.idColumn = "x"
        case .field: options.field = "x"
        case .carry: options.carried = [CarriedColumn("x")]
        }
        #expect(throws: ListError.optionDoesNotApply(option, format)) { try Listed.rows(text, options) }
    }
}
