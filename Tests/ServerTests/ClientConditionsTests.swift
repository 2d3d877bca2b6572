import GannetHTTP
import Testing

@testable import Server

@Suite struct ClientConditionsTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let later = "Sun, 06 Nov 1994 08:49:38 GMT"
    private static let now: Int64 = 1_700_000_000

    private func conditions(_ headers: [(String, String)]) -> ClientConditions {
        ClientConditions(HTTPServiceRequest(method: "GET", target: "/", headers: headers.map { (name: $0.0, value: $0.1) }))
    }

    private let tag = EntityTag(Array("\"a,b\"".utf8))

    @Test(arguments: [
        ("\"a,b\"", true), ("W/\"a,b\"", true), ("\"x\", \"a,b\"", true), ("*", true), ("\"x\"", false), ("\"a", false), ("a,b", false),
        ("", false),
    ])
    func `If-None-Match names the states that the client has`(list: String, isCurrent: Bool) {
        #expect(conditions([("If-None-Match", list)]).isCurrent(tag, lastModified: nil, now: Self.now) == isCurrent)
    }

    @Test func `a tag outranks a date`() {
        let headers = [("If-None-Match", "\"other\""), ("If-Modified-Since", Self.later)]
        #expect(!conditions(headers).isCurrent(tag, lastModified: Self.date, now: Self.now))
    }

    @Test func `a date is compared where there is no tag`() {
        #expect(conditions([("If-Modified-Since", Self.date)]).isCurrent(nil, lastModified: Self.date, now: Self.now))
        #expect(conditions([("If-Modified-Since", Self.date)]).isCurrent(nil, lastModified: Self.later, now: Self.now) == false)
        #expect(conditions([("If-Modified-Since", "yesterday")]).isCurrent(nil, lastModified: Self.date, now: Self.now) == false)
        #expect(conditions([("If-Modified-Since", Self.date)]).isCurrent(nil, lastModified: nil, now: Self.now) == false)
    }

    @Test func `a part of another state is not continued`() {
        let range = ("Range", "bytes=0-4")
        #expect(conditions([range]).range(of: 10, tag, lastModified: nil) == .part(0..<5))
        #expect(conditions([range, ("If-Range", "\"a,b\"")]).range(of: 10, tag, lastModified: nil) == .part(0..<5))
        #expect(conditions([range, ("If-Range", "W/\"a,b\"")]).range(of: 10, tag, lastModified: nil) == .whole)
        #expect(conditions([range, ("If-Range", "\"old\"")]).range(of: 10, tag, lastModified: nil) == .whole)
        #expect(conditions([range, ("If-Range", Self.date)]).range(of: 10, tag, lastModified: Self.date) == .part(0..<5))
        #expect(conditions([range, ("If-Range", Self.date)]).range(of: 10, tag, lastModified: Self.later) == .whole)
    }
}
