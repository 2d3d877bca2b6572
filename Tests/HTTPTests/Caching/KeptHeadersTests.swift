import Testing

@testable import GannetHTTP

@Suite struct KeptHeadersTests {
    private func kept(_ lines: [String]) -> KeptHeaders? {
        KeptHeaders(of: AnswerHead(status: 200, headers: HTTPLines.headers(lines)), receivedAt: .came)
    }

    private func names(_ lines: [String]) throws -> [String] { try #require(kept(lines)).fields.map(\.header.name) }

    @Test func `headers that decide about the use or describe the body are kept, and no others`() throws {
        let lines =
            KeptHeader.allCases.map { "\($0.name): x" } + ["Set-Cookie: a=b", "Age: 5", "Date: {0}", "Content-Encoding: br", "X-Other: 1"]
        let kept = try names(lines)
        #expect(kept == ["cache-control", "vary", "expires"] + KeptHeader.allCases.dropFirst(5).map(\.name))
        #expect(try names(["ETag: \"a\"", "Last-Modified: {-1}", "Date: {0}"]) == ["etag", "last-modified"])
    }

    @Test func `all lines of one name are kept in their order`() throws {
        let headers = try #require(kept(["Link: <b>", "Vary: b", "Link: <a>", "Vary: a"])).headers
        #expect(headers.values(of: "link") == ["<b>", "<a>"])
        #expect(headers.values(of: "vary") == ["b", "a"])
    }

    /// RFC 9111, section 3.1.
    @Test(arguments: ["Connection: Link, close", "Cache-Control: no-cache=\"link\"", "Cache-Control: private=\"LINK\""])
    func `headers for one connection, one answer or one user are not kept`(line: String) throws {
        let names = try names(["Link: <a>", "Content-Type: a/b", line])
        #expect(!names.contains("link"))
        #expect(names.contains("content-type"))
    }

    @Test func `a connection cannot take away what decides`() throws {
        #expect(try names(["Connection: cache-control, vary, expires", "Cache-Control: no-cache", "Vary: a", "Expires: 0"]).count == 3)
    }

    /// RFC 9110, section 8.8.2.2.
    @Test(arguments: [
        ("Last-Modified: {-1}", "Date: {0}", true), ("Last-Modified: {0}", "Date: {0}", false), ("Last-Modified: {5}", "Date: {0}", false),
        ("Last-Modified: {5}", "Date: {6}", true), ("Last-Modified: {-1}", "X: no date", true), ("Last-Modified: {0}", "X: no date", false),
    ])
    func `a date of change is kept when the answer is of a later second`(modified: String, date: String, isKept: Bool) throws {
        #expect(try names([modified, date]) == (isKept ? ["last-modified"] : []))
    }

    @Test func `a tag is kept byte for byte or not at all`() throws {
        let broken = ResponseHeaders(lines: Array("ETag: \"".utf8) + [0xff] + Array("\"\r\n".utf8))
        #expect(KeptHeaders(of: AnswerHead(status: 200, headers: broken), receivedAt: .came)?.fields == [])
        #expect(try names(["ETag: \"a\"", "ETag: \"b\""]) == [])
    }

    @Test func `headers that do not fit are left out, and without an indispensable one the answer is not kept`() throws {
        let long = String(repeating: "a", count: KeptHeaders.maximumBytes)
        #expect(try names(["Link: \(long)", "Content-Type: a/b", "ETag: \"a\""]) == ["etag", "content-type"])
        for header in KeptHeader.allCases where header.isIndispensable {
            #expect(kept(["\(header.name): \(long)"]) == nil)
        }
        #expect(kept([String](repeating: "Vary:", count: 10_000)) == nil)
        let exchange = Kept.exchange(["Cache-Control: max-age=60, x=\(long)"])
        #expect(StorageDecision(for: exchange, policy: FreshnessPolicy()) == .refuse(.unkeepableHeaders))
    }

    @Test func `control characters are not kept`() throws {
        #expect(try names(["Content-Type: a\u{1}b", "Content-Language: a\rb"]) == [])
        #expect(kept(["Cache-Control: max-age=60\u{0}, no-cache"]) == nil)
    }

    @Test func `the numbers of headers are never given away again`() {
        #expect(KeptHeader.allCases.map(\.rawValue) == Array(1...11))
        #expect(
            KeptHeader.allCases.map(\.name) == [
                "cache-control", "vary", "expires", "etag", "last-modified", "content-type", "content-language", "content-disposition",
                "content-location", "x-robots-tag", "link",
            ])
    }
}
