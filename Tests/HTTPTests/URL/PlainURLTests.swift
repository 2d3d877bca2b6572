import Testing

@testable import GannetHTTP

/// Almost all URLs are read without the parser. They are the same URLs as the parser would make of them.
@Suite struct PlainURLTests {
    @Test(
        "A usual URL is plain, and the parser reads the same",
        arguments: [
            "http://example.com/", "https://example.com/a/b.jpg", "https://img-7.example.com/a_b/c~d/e.f-g.png?w=100&h=%20&x=[1]",
            "http://example.com:8080/", "https://example.com:80/a", "http://h:65535/a", "http://a.b/?", "http://h//a//b",
            "http://h/a%2Fb|c",
            "http://h/a?b=/../c?d\\", "http://h/a..b/c.", "http://xn.example/x-n--y", "http://h/;,:@&=+$!*'()", "http://1.2.3.a/",
            "http://1.2.3.4/",
            "http://255.0.10.199:81/a",
            "http://\(String(repeating: "a", count: 255))/", "http://h/\(String(repeating: "a", count: 8183))",
        ])
    func plain(url: String) throws {
        let plain = try #require(CanonicalURL(plain: url))
        let parsed = try CanonicalURL(standard: Array(url.utf8))
        #expect(plain == parsed)
        #expect(try CanonicalURL(url) == CanonicalURL(parsing: Array(url.utf8)))
        #expect(try CanonicalURL(bytes: Array(url.utf8)[...]) == CanonicalURL(url))
    }

    @Test(
        "A URL that the standard writes in another way goes to the parser, and so does a URL that is refused",
        arguments: [
            "", "http:", "http://", "http:///", "http://h", "http://h?a", "HTTP://h/", "httpss://h/", "https:/h/a", "ftp://h/", "http://H/",
            "http://h/a#b", "http://h/#", "http://h/a?b#c", "http://u:p@h/", "http://@h/", "http://h:/", "http://h:80/", "https://h:443/",
            "http://h:080/", "http://h:0/", "http://h:65536/", "http://h:123456/", "http://h:8a/", "http://h:8080",
            "http://1.2.3/", "http://1.2.3.04/", "http://1.2.3.256/", "http://1.2.3.4.5/", "http://1.2.3.0x4/", "http://1.2..4/",
            "http://1.2.3.4./",
            "http://1/", "http://a.0x7f/", "http://a.1.b.2/", "http://.a/", "http://a..b/", "http://a./", "http://[::1]/", "http://xn--a/",
            "http://a.xn--b/", "http://b\u{fc}cher/", "http://a_b/", "http://a%62c/", "http://h/.", "http://h/./a", "http://h/../a",
            "http://h/a/..", "http://h/%2e/a", "http://h/%2E%2e", "http://h/.a", "http://h/%41", "http://h/a\\b", "http://h/a b",
            "http://h/a\"",
            "http://h/a<", "http://h/a^", "http://h/`", "http://h/{", "http://h/\u{e9}", "http://h/a?b'c", "http://h/a?b\"",
            "http://h/a?\u{fc}",
            "http://h/\u{1}", "http://h/\u{7f}", "http://\(String(repeating: "a", count: 256))/",
            "http://h/\(String(repeating: "a", count: 8184))",
        ])
    func notPlain(url: String) {
        #expect(CanonicalURL(plain: url) == nil)
        #expect((try? CanonicalURL(url)) == (try? CanonicalURL(parsing: Array(url.utf8))))
    }
}
