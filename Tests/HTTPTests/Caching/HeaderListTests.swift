import Testing

@testable import GannetHTTP

@Suite struct HeaderListTests {
    @Test(arguments: [
        ("", []), (",, ,\t", []), ("a", ["a"]), (" a ,b\t,, c d ", ["a", "b", "c d"]), ("a=\"b, c\", d", ["a=\"b, c\"", "d"]),
        ("\"a\\\", b\", c", ["\"a\\\", b\"", "c"]), ("\"\",a", ["\"\"", "a"]), ("\"a\\\\\", b", ["\"a\\\\\"", "b"]),
    ])
    func `commas separate, but not within quotes`(value: String, members: [String]) {
        let list = HeaderList(value)
        #expect(list.members == members)
        #expect(list.isWellFormed)
    }

    @Test(arguments: [
        ("a=\"b, c", ["a=\"b", "c"]), ("\"", ["\""]), ("\"a\\", ["\"a\\"]), ("\"a\\\", b", ["\"a\\\"", "b"]),
        ("\"a\", \"b, c", ["\"a\"", "\"b", "c"]),
    ])
    func `a quote without an end is a character like another`(value: String, members: [String]) {
        let list = HeaderList(value)
        #expect(list.members == members)
        #expect(!list.isWellFormed)
    }

    @Test(
        arguments: [
            ("0", 0), ("60", 60), ("0060", 60), ("2147483647", 2_147_483_647), ("2147483648", 2_147_483_648), ("2147483649", 2_147_483_648),
            ("9223372036854775807", 2_147_483_648), ("9223372036854775808", 2_147_483_648), ("", nil), ("-1", nil), ("+1", nil),
            ("1.0", nil),
            (" 1", nil), ("1s", nil), ("٣", nil), ("0x10", nil),
        ] as [(String, Int64?)])
    func `digits alone are seconds, and no more of them than forever`(text: String, seconds: Int64?) {
        #expect(DeltaSeconds.parse(text) == seconds)
    }
}
