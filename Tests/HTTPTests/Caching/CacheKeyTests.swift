import Testing

@testable import GannetHTTP

@Suite struct CacheKeyTests {
    private func key(_ headers: [(String, String)]) throws -> CacheKey {
        CacheKey(try CanonicalURL("http://h/a"), headers: try headers.map { try #require(HeaderField(name: $0.0, value: $0.1)) })
    }

    @Test func `without headers it is the URL's id`() throws {
        #expect(try key([]).id == CanonicalURL("http://h/a").id)
    }

    @Test func `case and order of names and blanks around values do not matter`() throws {
        let one = try key([("Accept", "a"), ("X-Key", "k")])
        #expect(try one == key([("x-key", " k\t"), ("ACCEPT", "a")]))
    }

    @Test func `another value, name or header is another key`() throws {
        let keys = try [
            [], [("a", "1")], [("a", "2")], [("b", "1")], [("a", "1"), ("b", "1")], [("a", "1"), ("a", "1")], [("a", "1: b")], [("a", "A")],
            [("a", "")],
        ].map(key)
        #expect(Set(keys).count == keys.count)
    }

    @Test func `the order of several values of one name means something`() throws {
        #expect(try key([("a", "1"), ("b", "x"), ("a", "2")]) == key([("b", "x"), ("a", "1"), ("a", "2")]))
        #expect(try key([("a", "1"), ("a", "2")]) != key([("a", "2"), ("a", "1")]))
    }
}
