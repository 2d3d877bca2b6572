import Testing

@testable import GannetHTTP

/// The examples of RFC 3986, section 5.4. A fragment is not sent, so it is missing on the right.
@Suite struct ReferenceTests {
    private static let base = "http://a/b/c/d;p?q"

    @Test(
        "References are resolved as RFC 3986 has it",
        arguments: [
            // 5.4.1, usual ones.
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"), ("//g", "http://g/"),
            ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"), ("g#s", "http://a/b/c/g"),
            ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y"),
            ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
            ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
            // 5.4.2, unusual ones.
            ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
            ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g"), ("g#s/../x", "http://a/b/c/g"),
            // A strict parser would take it for a URL without a host.
            ("http:g", "http://a/b/c/g"),
        ])
    func references(reference: String, target: String) throws {
        #expect(try CanonicalURL(Self.base).following(Array(reference.utf8)).text == target)
    }

    @Test("The reference of another scheme is not followed")
    func otherScheme() throws {
        let base = try CanonicalURL(Self.base)
        #expect(throws: RequestRejection.unsupportedScheme("g")) { try base.following(Array("g:h".utf8)) }
    }

    @Test("Bytes of a location that are not UTF-8 are escaped one by one, and no part of a host")
    func latin1() throws {
        let base = try CanonicalURL(Self.base)
        #expect(try base.following([0x2f, 0xe4, 0x3f, 0xff]).text == "http://a/%E4?%FF")
        #expect(throws: RequestRejection.badHost) { try base.following([0x2f, 0x2f, 0xe4, 0x2f]) }
    }

    @Test("The limit on a URL's length holds for locations, and for what they lead to")
    func length() throws {
        let base = try CanonicalURL(Self.base)
        let limit = CanonicalURL.maximumLength
        #expect(throws: RequestRejection.tooLong(bytes: limit + 1)) { try base.following([UInt8](repeating: 0x20, count: limit + 1)) }
        #expect(throws: RequestRejection.tooLong(bytes: limit + 1)) {
            try base.following([0x2f] + [UInt8](repeating: 0x61, count: limit - 8))
        }
        #expect(try base.following([0x2f] + [UInt8](repeating: 0x61, count: limit - 9)).text.utf8.count == limit)
    }
}
