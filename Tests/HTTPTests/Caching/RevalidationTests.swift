import Testing

@testable import GannetHTTP

@Suite struct RevalidationTests {
    private let policy = FreshnessPolicy()

    private func confirmed(_ stored: StoredAnswer, by lines: [String], at moment: Moment = .came + .seconds(100)) throws -> StoredAnswer {
        let outcome = stored.revalidated(by: Kept.exchange(lines, status: 304, at: moment), policy: policy)
        guard case .confirmed(let answer) = outcome else {
            Issue.record("\(outcome)")
            throw CancellationError()
        }
        return answer
    }

    /// RFC 9111, section 4.3.4: headers of the kept answer, headers of the 304, and whether they fit.
    @Test(
        arguments: [
            (["ETag: \"a\""], ["ETag: \"a\""], true),
            (["ETag: \"a\""], ["ETag: \"b\""], false),
            // A strong one means the same bytes, and a weak one that is kept does not promise them.
            (["ETag: W/\"a\""], ["ETag: \"a\""], false),
            (["ETag: \"a\""], ["ETag: W/\"a\""], true),
            (["ETag: W/\"a\""], ["ETag: W/\"a\""], true),
            (["ETag: W/\"a\""], ["ETag: W/\"b\""], false),
            (["ETag: \"a\""], ["ETag: a"], false),
            (["ETag: \"a\""], ["ETag: \"a\"", "ETag: \"b\""], false),
            (["Last-Modified: {-60}"], ["ETag: \"a\""], false),
            // The tag decides where there is one.
            (["ETag: \"a\"", "Last-Modified: {-60}"], ["ETag: \"a\"", "Last-Modified: {-50}"], true),
            (["ETag: \"a\"", "Last-Modified: {-60}"], ["ETag: \"b\"", "Last-Modified: {-60}"], false),
            (["Last-Modified: {-60}"], ["Last-Modified: {-60}"], true),
            (["Last-Modified: {-60}"], ["Last-Modified: {-50}"], false),
            (["Last-Modified: {-60}"], ["Last-Modified: long ago"], false),
            (["ETag: \"a\""], ["Last-Modified: {-60}"], false),
            // The request named one answer alone.
            (["ETag: \"a\""], [], true),
            (["Last-Modified: {-60}"], [], true),
        ] as [([String], [String], Bool)])
    func `a 304 is about the answer that has its validator`(kept: [String], news: [String], fits: Bool) throws {
        let stored = try Kept.answer(["Cache-Control: max-age=60"] + kept)
        let outcome = stored.revalidated(by: Kept.exchange(news, status: 304, at: .came + .seconds(100)), policy: policy)
        let isConfirmed = if case .confirmed = outcome { true } else { false }
        #expect(isConfirmed == fits && (outcome == .unusable) != fits, "\(outcome)")
    }

    @Test func `a 304 from elsewhere, or that is none, is about something else`() throws {
        let german = RequestFacts(url: Kept.url, headers: HTTPLines.fields(["Accept-Language: de"]))
        let stored = try Kept.answer(["Cache-Control: max-age=60", "ETag: \"a\"", "Vary: Accept-Language"], request: german)
        func outcome(_ request: RequestFacts, finalURL: String = Kept.url, status: Int = 304) -> Revalidation {
            stored.revalidated(by: Kept.exchange(["ETag: \"a\""], status: status, request: request, finalURL: finalURL), policy: policy)
        }
        guard case .confirmed = outcome(german) else {
            Issue.record("\(outcome(german))")
            return
        }
        guard case .confirmed = outcome(german, finalURL: "HTTPS://Example.ORG:443/x/../a#part") else {
            Issue.record("another spelling is another URL")
            return
        }
        #expect(outcome(german, finalURL: "https://example.org/b") == .unusable)
        #expect(outcome(german, finalURL: "") == .unusable)
        #expect(outcome(german, status: 200) == .unusable)
    }

    @Test func `it is as fresh as if it had come now`() throws {
        let stored = try Kept.answer(["Cache-Control: max-age=60", "Age: 50", "Date: {-50}", "ETag: \"a\""])
        #expect(stored.freshness.freshUntil == .came + .seconds(10))
        let answer = try confirmed(stored, by: ["Date: {100}"])
        #expect(answer.receivedAt == .came + .seconds(100))
        #expect(answer.freshness.generatedAt == .came + .seconds(100))
        #expect(answer.freshness.freshUntil == .came + .seconds(160))
        #expect(try confirmed(stored, by: ["Age: 20"]).freshness.freshUntil == .came + .seconds(140))
    }

    @Test func `its lifetime is what the 304 says, or else what the answer said`() throws {
        let stored = try Kept.answer(["Cache-Control: max-age=60", "ETag: \"a\""])
        #expect(try confirmed(stored, by: ["Cache-Control: max-age=5"]).freshness.freshUntil == .came + .seconds(105))
        #expect(try confirmed(stored, by: ["Expires: {1000}"]).freshness.freshUntil == .came + .seconds(160))
        let dated = try Kept.answer(["Expires: {60}", "ETag: \"a\""])
        // The time of the first answer, which has passed.
        #expect(try confirmed(dated, by: []).freshness.freshUntil == .came + .seconds(100))
        #expect(try confirmed(dated, by: ["Expires: {200}"]).freshness.freshUntil == .came + .seconds(200))
        let guessed = try Kept.answer(["Last-Modified: {-1000}"])
        #expect(try confirmed(guessed, by: []).freshness.freshUntil == .came + .seconds(100 + 110))
    }

    @Test func `its headers take the place of those that are kept, name by name`() throws {
        let stored = try Kept.answer([
            "Cache-Control: max-age=60", "ETag: \"a\"", "Content-Type: text/plain", "Content-Language: de", "Link: <a>", "Link: <b>",
        ])
        let answer = try confirmed(stored, by: ["Content-Type: text/html", "Link: <c>", "X-Robots-Tag: none", "X-Other: 1"])
        let headers = answer.headers.headers
        #expect(headers.values(of: "content-type") == ["text/html"])
        #expect(headers.values(of: "link") == ["<c>"])
        #expect(headers.values(of: "content-language") == ["de"])
        #expect(headers.values(of: "x-robots-tag") == ["none"])
        #expect(headers.values(of: "etag") == ["\"a\""])
        #expect(headers["x-other"] == nil)
        #expect(answer.contentType == "text/html")
    }

    @Test func `length and encoding in a 304 are not about the kept body`() throws {
        let stored = try Kept.answer(["Cache-Control: max-age=60", "ETag: \"a\"", "Content-Length: 4"])
        let answer = try confirmed(
            stored, by: ["Content-Length: 0", "Content-Encoding: br", "Content-Range: bytes 0-1/2", "Transfer-Encoding: chunked"])
        for name in ["content-length", "content-encoding", "content-range", "transfer-encoding"] {
            #expect(answer.headers.headers[name] == nil)
        }
        #expect(answer.byteCount == stored.byteCount)
        #expect(answer.digest == stored.digest)
        #expect(answer.status == 200)
    }

    @Test func `an answer that may no longer be kept still goes to the waiting callers`() throws {
        let stored = try Kept.answer(["Cache-Control: max-age=60", "ETag: \"a\""])
        let once = stored.revalidated(by: Kept.exchange(["Cache-Control: no-store"], status: 304), policy: policy)
        #expect(once == .confirmedOnce(.noStore))
        let other = stored.revalidated(by: Kept.exchange(["Vary: *"], status: 304), policy: policy)
        #expect(other == .confirmedOnce(.variesByAnything))
        // The 304 to a request with credentials is for its sender alone.
        let request = RequestFacts(url: Kept.url, headers: HTTPLines.fields(["Authorization: a"]))
        let theirs = stored.revalidated(by: Kept.exchange(["ETag: \"a\""], status: 304, request: request), policy: policy)
        #expect(theirs == .confirmedOnce(.credentials))
    }
}
