import Testing

@testable import GannetHTTP

@Suite struct HeaderFieldTests {
    @Test(
        "A header that could smuggle or reframe a request cannot be made",
        arguments: [
            ("", "x"), ("a b", "x"), ("a:", "x"), ("A\r\nB", "x"), ("A", "x\r\nB: y"), ("A", "x\0"), ("Host", "x"), ("content-length", "5"),
            ("Transfer-Encoding", "chunked"), ("Connection", "close"), ("Accept-Encoding", "gzip"), ("É", "x"),
        ])
    func refused(name: String, value: String) {
        #expect(HeaderField(name: name, value: value) == nil)
    }

    @Test("A header without a value is sent without a value, not left out")
    func empty() {
        #expect(HeaderField(name: "X-A", value: "")?.curlLine == "X-A;")
        #expect(HeaderField(name: "X-A", value: " ")?.curlLine == "X-A;")
        #expect(HeaderField(name: "X-A", value: "b")?.curlLine == "X-A: b")
    }

    @Test("Blanks around a value are no part of it")
    func blanks() {
        #expect(HeaderField(name: "X-A", value: " \t b c\t ") == HeaderField(name: "X-A", value: "b c"))
        #expect(HeaderField(name: "X-A", value: "\u{e9} ")?.value == "\u{e9}")
    }

    @Test(
        "A written line is a header, or a sentence says why not without repeating a value",
        arguments: [
            ("Accept: text/html, image/*", nil), ("X-A:b:c", nil), ("x-api-key:\ts3cret ", nil),
            ("Host:s3cret", "'Host' is set by gannet itself"),
            ("s3cret", "it has no colon; write 'Name: value'"), ("", "it has no colon"), (": s3cret", "no header's name"),
            ("s3cret thing: x", "no header's name"), ("X-A : s3cret", "no header's name"), ("X-A:", "'X-A' has no value"),
            ("X-A: \t", "has no value"),
            ("X-A: s3cret\r\nHost: b", "'X-A' has a line break"), ("X-A: s3cret\u{0}", "control character"),
            ("X-A: s3cret\u{7f}", "control character"),
            ("X-A: " + String(repeating: "v", count: 8193), "more than 8192 bytes"),
            (String(repeating: "n", count: 257) + ": v", "no header's name"),
            ("content-length: 5", "'content-length' is set by gannet itself"), ("Transfer-Encoding: chunked", "is set by gannet itself"),
            ("Connection: close", "is set by gannet itself"), ("Accept-Encoding: gzip", "is set by gannet itself"),
            ("Proxy-Authorization: Basic s3cret", "is set by gannet itself"), ("Range: bytes=0-1", "'Range' asks for a part"),
            ("if-none-match: *", "asks for a part"), ("If-Modified-Since: s3cret", "asks for a part"),
            ("If-Range: s3cret", "asks for a part"),
        ])
    func written(line: String, problem: String?) throws {
        do throws(RequestRejection) {
            let field = try HeaderField(line: line)
            #expect(problem == nil)
            #expect(HeaderField(name: field.name, value: field.value) == field)
        } catch {
            #expect(problem.map { error.description.contains($0) } == true, "\(error)")
            #expect(!error.description.contains("s3cret"))
        }
    }
}
