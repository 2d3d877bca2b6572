import Testing

@testable import Lists

@Suite struct JSONTests {
    private func rows(_ text: String, cut size: Int = 7, field: String? = nil, id: String? = nil) throws -> [Row] {
        var options = ListOptions()
        options.format = .jsonl
        options.field = field
        options.idColumn = id
        return try Listed.rows(text, cut: size, options)
    }

    @Test(arguments: 1...40)
    func `the field 'url' is found among others, wherever a chunk ends`(size: Int) throws {
        let text = """
            {"a": [1, {"url": "no"}, "\\"]"], "url": "http://a/", "b": null}\r
             \t
            {"url":"http://b/?\\u0061=\\/\\ud83d\\ude00"}
            {"x":{"url":"no"},"url":"http://c/"}
            """
        #expect(
            try Listed.rows(text, cut: size) == [.url(1, "http://a/"), .url(3, "http://b/?a=/😀"), .url(4, "http://c/")])
    }

    @Test(arguments: [
        ("image.url", #"{"url": "no", "image": {"x": 1, "url": "http://a/"}}"#), ("image.url", #"{"image.url": "http://a/"}"#),
        ("a.b.c", #"{"a.b": {"c": "http://a/"}, "a": 1}"#), ("ü", #"{"\u00fc": "http://a/"}"#), ("u", #"{"u": "no", "u": "http://a/"}"#),
    ])
    func `a field is named by its path`(field: String, line: String) throws {
        #expect(try rows(line, field: field) == [.url(1, "http://a/")])
    }

    @Test(arguments: [
        (#""x\ty""#, "x\ty"), ("17", "17"), ("-1.5e3", "-1.5e3"), ("true", "true"), ("null", nil), ("[1, 2]", "[1, 2]"), (#""""#, ""),
    ])
    func `an id is a string's text, or a number as it is written`(written: String, id: String?) throws {
        #expect(try rows(#"{"id": \#(written), "url": "u"}"#, id: "id") == [.url(1, "u", id: id)])
    }

    @Test(arguments: [
        ("{\"url\": 1}", RowProblem.notText), ("{\"url\": null}", .notText), ("{\"url\": {}}", .notText), ("{\"url\": \"\"}", .empty),
        ("{\"url\": \" \"}", .empty), ("{\"URL\": \"u\"}", .noField), ("{}", .noField), ("[\"u\"]", .notAnObject), ("\"u\"", .notAnObject),
        ("{\"url\": \"a\\u0000\"}", .nul), ("{\"url\": \"u\"", .badJSON(at: 12)), ("{\"url\": \"u\"},", .badJSON(at: 13)),
        ("{\"url\": \"u}", .badJSON(at: 9)), ("{\"url\": \"\\x\"}", .badJSON(at: 10)), ("{\"url\": \"\\u12g4\"}", .badJSON(at: 10)),
        ("{url: 1}", .badJSON(at: 2)), ("{\"a\": nul}", .badJSON(at: 7)), ("{\"a\" 1}", .badJSON(at: 6)),
        ("{\"a\": [1,]}", .badJSON(at: 10)),
        ("junk", .badJSON(at: 1)), ("{\"url\": \"u\\", .badJSON(at: 9)),
    ])
    func `a line that is no JSON, or has no URL, is invalid, and the next line is not`(line: String, problem: RowProblem) throws {
        #expect(try rows("\(line)\n{\"url\":\"next\"}\n") == [.invalid(1, problem), .url(2, "next")])
    }

    @Test func `an object nested without end is invalid and not followed`() throws {
        let deep = String(repeating: "{\"a\":", count: 100_000)
        let rows = try rows("\(deep)\n\(String(repeating: "[", count: 100_000))\n{\"url\":\"u\"}\n", cut: 4096)
        #expect(rows.count == 3)
        #expect(rows.last == .url(3, "u"))
    }
}
