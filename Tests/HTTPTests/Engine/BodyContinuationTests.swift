import Testing

@testable import GannetHTTP

/// When a rest is asked for, and which answers have it.
@Suite struct BodyContinuationTests {
    private static let tag = ("ETag", "\"v1\"")
    private static let now: Int64 = 1_700_000_000

    private static func beginning(
        _ fields: [(String, String)], count: Int64 = 100_000, total: Int64? = 300_000, status: Int = 200
    )
        -> BodyContinuation.Beginning
    {
        BodyContinuation.Beginning(
            status: status, headers: ResponseHeaders(fields.map { (name: $0.0, value: $0.1) }), count: count, total: total)
    }

    private static func asks(_ fields: [(String, String)], count: Int64 = 100_000, total: Int64? = 300_000, status: Int = 200) -> [String]?
    {
        var continuation = BodyContinuation()
        return continuation.request(after: beginning(fields, count: count, total: total, status: status), now: now)?.map(\.curlLine)
    }

    @Test(
        arguments: [
            ([tag], "\"v1\""), ([tag, ("Accept-Ranges", "bytes")], "\"v1\""), ([("Content-Encoding", "identity"), tag], "\"v1\""),
            (
                [("Date", "Tue, 14 Nov 2023 22:13:20 GMT"), ("Last-Modified", "Tue, 14 Nov 2023 22:12:20 GMT")],
                "Tue, 14 Nov 2023 22:12:20 GMT"
            ),
        ] as [([(String, String)], String)])
    func `the rest of a body with a strong validator is asked for`(fields: [(String, String)], validator: String) {
        #expect(Self.asks(fields) == ["Range: bytes=100000-", "If-Range: \(validator)"])
        #expect(Self.asks(fields, total: nil) != nil)
    }

    @Test(
        arguments: [
            [], [("ETag", "W/\"v1\"")], [("ETag", "v1")], [("ETag", "\"v 1\"")], [("ETag", "\"v\"1\"")], [tag, ("ETag", "\"v2\"")],
            [tag, ("Accept-Ranges", "None")], [tag, ("Content-Encoding", "gzip")],
            // A weak tag leaves no date in force.
            [
                ("ETag", "W/\"v1\""), ("Date", "Tue, 14 Nov 2023 22:13:20 GMT"), ("Last-Modified", "Tue, 14 Nov 2023 21:12:20 GMT"),
            ],
            [("Date", "Tue, 14 Nov 2023 22:13:20 GMT"), ("Last-Modified", "Tue, 14 Nov 2023 22:12:21 GMT")],
            [("Last-Modified", "Tue, 14 Nov 2023 21:12:20 GMT")],
            [("Date", "Tue, 14 Nov 2023 22:13:20 GMT"), ("Last-Modified", "yesterday")],
        ] as [[(String, String)]])
    func `a body without one, or in another coding, is not`(fields: [(String, String)]) { #expect(Self.asks(fields) == nil) }

    @Test func `a short beginning, a whole body and a part are not continued`() {
        #expect(Self.asks([Self.tag], count: BodyContinuation.leastGain) != nil)
        #expect(Self.asks([Self.tag], count: BodyContinuation.leastGain - 1) == nil)
        #expect(Self.asks([Self.tag], count: 300_000) == nil)
        #expect(Self.asks([Self.tag], status: 206) == nil)
        #expect(Self.asks([Self.tag], status: 203) == nil)
    }

    @Test func `each request has to bring something new, and there are eight at most`() {
        var continuation = BodyContinuation()
        var count: Int64 = 0
        for number in 1...BodyContinuation.most {
            count += BodyContinuation.leastGain
            #expect(continuation.request(after: Self.beginning([Self.tag], count: count, total: nil), now: Self.now) != nil)
            #expect(continuation.count == number)
            #expect(continuation.request(after: Self.beginning([Self.tag], count: count + 1, total: nil), now: Self.now) == nil)
        }
        #expect(continuation.request(after: Self.beginning([Self.tag], count: 1 << 40, total: nil), now: Self.now) == nil)
    }

    private static func verdict(_ status: Int, _ fields: [(String, String)], total: Int64? = 300_000) -> BodyContinuation.Verdict {
        var continuation = BodyContinuation()
        _ = continuation.request(after: beginning([tag], total: total), now: now)
        return continuation.verdict(status: status, headers: ResponseHeaders(fields.map { (name: $0.0, value: $0.1) }))
    }

    @Test func `a part that begins where the body broke off goes on, and a whole body begins anew`() {
        let range = ("Content-Range", "bytes 100000-299999/300000")
        #expect(Self.verdict(206, [Self.tag, range]) == .goesOn(end: 300_000, of: 300_000))
        #expect(Self.verdict(206, [Self.tag, range, ("Content-Length", "200000")]) == .goesOn(end: 300_000, of: 300_000))
        #expect(Self.verdict(206, [Self.tag, range], total: nil) == .goesOn(end: 300_000, of: 300_000))
        #expect(Self.verdict(206, [Self.tag, ("content-range", "Bytes 100000-100000/300000")]) == .goesOn(end: 100_001, of: 300_000))
        #expect(Self.verdict(200, [("ETag", "\"v2\"")]) == .beginsAnew)
    }

    @Test(
        arguments: [
            "", "bytes 99999-299999/300000", "bytes 100001-299999/300000", "bytes 100000-299999/300001", "bytes 100000-299999/*",
            "bytes 100000-300000/300000", "bytes 100000-99999/300000", "bytes */300000", "bytes 100000-/300000", "bytes 100000/300000",
            "items 100000-299999/300000", "bytes=100000-299999/300000", "bytes +100000-299999/300000", "bytes -100000-299999/300000",
            "bytes 100000-299999/99999999999999999999",
        ])
    func `a part that is another one is no rest`(range: String) {
        #expect(Self.verdict(206, [Self.tag, ("Content-Range", range)]) == .isNone)
    }

    @Test func `a part of something else is no rest`() {
        let range = ("Content-Range", "bytes 100000-299999/300000")
        #expect(Self.verdict(206, [range]) == .isNone)
        #expect(Self.verdict(206, [("ETag", "\"v2\""), range]) == .isNone)
        #expect(Self.verdict(206, [("ETag", "W/\"v1\""), range]) == .isNone)
        #expect(Self.verdict(206, [Self.tag, range, range]) == .isNone)
        #expect(Self.verdict(206, [Self.tag, range, ("Content-Encoding", "gzip")]) == .isNone)
        #expect(Self.verdict(206, [Self.tag, range, ("Content-Length", "199999")]) == .isNone)
        for status in [204, 302, 304, 404, 412, 416, 503] { #expect(Self.verdict(status, [Self.tag, range]) == .isNone) }
    }
}
