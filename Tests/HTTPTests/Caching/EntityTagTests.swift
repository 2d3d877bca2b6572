import Testing

@testable import GannetHTTP

@Suite struct EntityTagTests {
    private func parse(_ text: String) -> EntityTag? { EntityTag(Array(text.utf8)) }

    @Test(arguments: ["\"\"", "\"a\"", "W/\"a\"", "\"a\\b\"", "\"é\"", "\"!#~\"", "\"W/\"", "\"a,b\""])
    func `a tag in quotes is one, weak or not`(text: String) throws {
        let tag = try #require(parse(text))
        #expect(tag.text == text)
        #expect(tag.isWeak == text.hasPrefix("W"))
    }

    @Test(arguments: [
        "", "a", "\"", "\"a", "a\"", "'a'", "w/\"a\"", "W/a", "W\"a\"", "\"a\"b\"", "\"a b\"", "\"a\tb\"", "\"a\u{7f}\"", "\"a\", \"b\"",
        "*",
    ])
    func `anything else is none`(text: String) {
        #expect(parse(text) == nil)
    }

    @Test func `bytes that are no text, and more than anybody needs, are none`() {
        #expect(EntityTag([0x22, 0xff, 0x22]) == nil)
        #expect(EntityTag([0x22] + [UInt8](repeating: 0x61, count: EntityTag.maximumLength - 2) + [0x22]) != nil)
        #expect(EntityTag([0x22] + [UInt8](repeating: 0x61, count: EntityTag.maximumLength - 1) + [0x22]) == nil)
    }

    /// The table of RFC 9110, section 8.8.3.2.
    @Test(arguments: [
        ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false), ("W/\"1\"", "\"1\"", false, true),
        ("\"1\"", "\"1\"", true, true), ("\"1\"", "\"2\"", false, false),
    ])
    func `tags are compared as the RFC's table has it`(one: String, other: String, strongly: Bool, weakly: Bool) throws {
        let one = try #require(parse(one))
        let other = try #require(parse(other))
        #expect(one.matchesStrongly(other) == strongly && other.matchesStrongly(one) == strongly)
        #expect(one.matchesWeakly(other) == weakly && other.matchesWeakly(one) == weakly)
    }
}

@Suite struct ValidatorsTests {
    private func conditions(_ lines: String...) -> [String] {
        Validators(HTTPLines.headers(lines)).conditions.map { "\($0.name): \($0.value)" }
    }

    @Test func `tag and date are sent back as they were written`() {
        #expect(
            conditions("ETag: \"a\"", "Last-Modified: sat, 01 JUN 2024 00:00:00 gmt") == [
                "If-None-Match: \"a\"", "If-Modified-Since: sat, 01 JUN 2024 00:00:00 gmt",
            ])
        #expect(conditions("etag:  W/\"a\" ") == ["If-None-Match: W/\"a\""])
    }

    @Test(arguments: [
        [], ["ETag: a"], ["ETag: \"a\"", "ETag: \"b\""], ["Last-Modified: never"], ["Last-Modified: {0}", "Last-Modified: {1}"],
        // Obsolete formats may not be sent.
        ["Last-Modified: Saturday, 01-Jun-24 00:00:00 GMT"], ["Last-Modified: Sat Jun  1 00:00:00 2024"],
    ])
    func `malformed and contradictory validators are left out`(lines: [String]) {
        let validators = Validators(HTTPLines.headers(lines))
        #expect(validators.isEmpty)
        #expect(validators.conditions == [])
    }

    @Test func `a validator that is repeated counts once`() {
        #expect(conditions("ETag: \"a\"", "ETag: \"a\"") == ["If-None-Match: \"a\""])
    }
}
