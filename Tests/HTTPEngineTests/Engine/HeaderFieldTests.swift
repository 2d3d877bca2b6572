import Testing

@testable import HTTPEngine

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
}
