import Testing

@testable import GannetHTTP

@Suite struct MessageHeadersTests {
    private func answer(_ lines: [String], age: Duration = .zero) throws -> StoredAnswer {
        let exchange = Kept.exchange(["Cache-Control: max-age=60"] + lines)
        return try Kept.answer(exchange).withMessage(of: exchange)
    }

    private func names(_ headers: ResponseHeaders) -> [String] { headers.fields.map { $0.name.lowercased() } }

    /// RFC 9111, section 3.1.
    @Test(arguments: [
        ("X-Other: 1", true), ("Content-MD5: x", true), ("Content-Length: 4", true), ("Clear-Site-Data: cache", true),
        ("Last-Modified: {5}", true), ("ETag: odd", true), ("Vary: Accept-Encoding", true), ("Set-Cookie: a=b", false),
        ("Set-Cookie2: a=b", false), ("Keep-Alive: timeout=5", false), ("Proxy-Authenticate: Basic", false), ("Upgrade: h2c", false),
        ("Transfer-Encoding: chunked", false), ("TE: trailers", false), ("Content-Encoding: br", false),
    ])
    func `all headers are kept, except those of a connection, cookies and those of packed bytes`(line: String, isKept: Bool) throws {
        let headers = try answer([line]).headers(at: .came, isConfirmed: false)
        #expect(names(headers).contains { line.lowercased().hasPrefix($0 + ":") } == isKept)
    }

    @Test(arguments: ["Connection: x-a, close", "Cache-Control: no-cache=\"x-a\"", "Cache-Control: private=\"X-A\""])
    func `headers that the answer keeps from others are left out`(line: String) throws {
        let headers = try answer(["X-A: 1", "X-B: 2", line]).headers(at: .came, isConfirmed: false)
        #expect(headers["x-a"] == nil && headers["x-b"] == "2" && headers["connection"] == nil)
    }

    @Test func `the length of packed bytes is left out`() throws {
        let headers = try answer(["Content-Encoding: gzip", "Content-Length: 3"]).headers(at: .came, isConfirmed: false)
        #expect(headers["content-length"] == nil)
    }

    /// RFC 9111, sections 4.2.3 and 5.1; RFC 9110, section 6.6.1.
    @Test(
        arguments: [
            (["Date: {0}"], 5.9, "5", 0), (["Date: {0}", "Age: 30"], 5, "35", 0), (["Date: {-10}"], 5, "15", -10), ([], 5, "5", 0),
            (["Age: x"], 0, "0", 0),
        ] as [([String], Double, String, Int)])
    func `a kept answer has an Age and the Date of its origin`(lines: [String], after: Double, age: String, date: Int) throws {
        let headers = try answer(lines).headers(at: .came + .milliseconds(Int(after * 1000)), isConfirmed: false)
        #expect(headers.values(of: "age") == [age])
        #expect(headers.values(of: "date") == [HTTPLines.date(date)])
    }

    @Test func `an answer with the short list has both too`() throws {
        let stored = try Kept.answer(["Cache-Control: max-age=60", "Age: 30", "X-Other: 1"])
        let headers = stored.headers(at: .came + .seconds(5), isConfirmed: false)
        #expect(
            headers.fields.map { "\($0.name): \($0.value)" } == ["cache-control: max-age=60", "Date: \(HTTPLines.date(-30))", "Age: 35"])
    }

    @Test func `an answer that its origin has just confirmed has no Age`() throws {
        #expect(try answer([]).headers(at: .came, isConfirmed: true)["age"] == nil)
        #expect(try answer(["Age: 7"]).headers(at: .came, isConfirmed: true)["age"] == "7")
    }

    /// RFC 9111, section 3.2.
    @Test func `a 304 replaces the headers that it has, and leaves the others`() throws {
        let stored = try answer([
            "ETag: \"a\"", "Date: {0}", "X-A: 1", "X-A: 2", "X-B: 1", "Content-Length: 4", "Content-Security-Policy: old",
        ])
        let news = Kept.exchange(
            ["ETag: \"a\"", "Date: {100}", "X-A: 3", "Content-Length: 9", "Content-Security-Policy: new", "Set-Cookie: c=d", "X-C: 4"],
            status: 304, at: .came + .seconds(100))
        guard case .confirmed(let answer) = stored.revalidated(by: news, policy: FreshnessPolicy()) else {
            Issue.record("the 304 is about the answer")
            return
        }
        let headers = answer.headers(at: .came + .seconds(130), isConfirmed: false)
        #expect(headers.values(of: "x-a") == ["3"])
        #expect(headers["x-b"] == "1" && headers["x-c"] == "4" && headers["content-length"] == "4" && headers["set-cookie"] == nil)
        #expect(headers.values(of: "content-security-policy") == ["new"])
        #expect(headers.values(of: "date") == [HTTPLines.date(100)] && headers.values(of: "age") == ["30"])
        #expect(headers["cache-control"] == "max-age=60")
        // A 304 without a date came when it came.
        #expect(
            answer.confirmedOnce(by: Kept.exchange([], status: 304, at: .came + .seconds(200))).headers(
                at: .came + .seconds(200), isConfirmed: true)["date"] == HTTPLines.date(200))
    }

    @Test func `of an answer with too many headers the short list is served`() throws {
        let long = String(repeating: "x", count: ResponseHeaders.mostKept)
        let stored = try answer(["X-Long: \(long)", "X-Other: 1", "ETag: \"a\""])
        #expect(names(stored.headers(at: .came, isConfirmed: false)) == ["cache-control", "etag", "date", "age"])
    }

    @Test func `a remembered failure has an Age, and no cookie`() {
        let failure = FailureHeaders(HTTPLines.headers(["Date: {-3}", "Set-Cookie: a=b", "X-A: 1"]), receivedAt: .came)
        let headers = failure.headers(at: .came + .seconds(4))
        #expect(headers["age"] == "7" && headers["x-a"] == "1" && headers["set-cookie"] == nil)
        #expect(FailureHeaders(ResponseHeaders(), receivedAt: .came).headers(at: .came).byteCount == 0)
    }

    @Test func `the metadata for a disk is decoded to the same, and another version is not read`() throws {
        for stored in [try answer(["X-A: 1"]), try Kept.answer(["Cache-Control: max-age=60"])] {
            let bytes = stored.encodedWithMessage
            #expect(StoredAnswer(decodingWithMessage: bytes) == stored)
            #expect(StoredAnswer(decodingWithMessage: stored.encoded) == nil)
            #expect(StoredAnswer(decodingWithMessage: [3] + bytes.dropFirst()) == nil)
            #expect(StoredAnswer(decodingWithMessage: Array(bytes.prefix(40))) == nil)
        }
        let short = try Kept.answer(["Cache-Control: max-age=60"]).encodedWithMessage
        #expect(StoredAnswer(decodingWithMessage: short + [0]) == nil)
    }

    /// Outcomes in Redis have to stay small.
    @Test func `an outcome does not grow by the other headers`() throws {
        #expect(try answer(["X-A: 1", "Date: {0}"]).encoded == Kept.answer(["Cache-Control: max-age=60", "Date: {0}"]).encoded)
    }

    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (Int64.max / 1000, "Fri, 31 Dec 9999 23:59:59 GMT"), (Int64.min / 1000, "Mon, 01 Jan 0001 00:00:00 GMT"),
        ] as [(Int64, String)])
    func `a moment is written as Date has it`(seconds: Int64, text: String) {
        #expect(Moment(millisecondsSince1970: seconds * 1000).httpDate == text)
    }
}
