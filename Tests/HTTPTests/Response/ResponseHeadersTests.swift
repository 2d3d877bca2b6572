import Testing

@testable import GannetHTTP

@Suite struct ResponseHeadersTests {
    private func values(_ lines: String, _ name: String) -> [String] { ResponseHeaders(lines: Array(lines.utf8)).values(of: name) }

    @Test(
        "A value is found by its name in any case, without the blanks around it",
        arguments: [
            ("ETag: \"a\"\r\n", ["\"a\""]), ("etag:\t a b \r\n", ["a b"]), ("ETAG:x\nEtag: y\n", ["x", "y"]), ("ETag : x\r\n", ["x"]),
            ("ETags: x\r\n", []), ("XETag: x\r\n", []), ("ETag\r\n", []), ("", []), ("ETag:\r\n", [""]), ("ETag: a:b\r\n", ["a:b"]),
            ("ETag: a\r\n b\r\n\tc\r\nX: y\r\n z\r\n", ["a b c"]), (" ETag: x\r\n", []), ("\r\nETag: x", ["x"]),
        ])
    func found(lines: String, expected: [String]) {
        #expect(values(lines, "etag") == expected)
        #expect(ResponseHeaders(lines: Array(lines.utf8)).has("ETag") == !expected.isEmpty)
    }

    @Test("Bytes that are not UTF-8 are replaced, and NUL is a character like any other")
    func bytes() {
        let headers = ResponseHeaders(lines: Array("A: x".utf8) + [0xff, 0x00] + Array("y\r\n".utf8))
        #expect(headers["a"] == "x\u{fffd}\u{0}y")
        #expect(headers.bytes(of: "a") == [0x78, 0xff, 0x00, 0x79])
    }

    @Test("Headers that are added stand on lines of their own", arguments: ["A: x\r\n", "A: x"])
    func adding(lines: String) {
        let headers = ResponseHeaders(lines: Array(lines.utf8)).adding([("B", "y"), ("a", "z")])
        #expect(headers.values(of: "a") == ["x", "z"])
        #expect(headers["b"] == "y")
    }

    @Test("The encodings of a body are named in their order, and names without effect are left out")
    func encodings() {
        func names(_ values: String...) -> [String] {
            ResponseHeaders(values.map { ("Content-Encoding", $0) }).encodings()
        }
        #expect(names("gzip, BR", "zstd") == ["gzip", "br", "zstd"])
        #expect(names("identity", "", "none,") == [])
        #expect(names(String(repeating: "gzip,", count: 1000)).count == 5)
    }
}
