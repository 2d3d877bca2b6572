import GannetBase
import Testing

@testable import GannetHTTP

@Suite struct CanonicalURLTests {
    @Test(
        "A URL has its canonical form and host",
        arguments: [
            ("HTTP://ExAmple.COM", "http://example.com/", "example.com"),
            ("http://example.com:80/", "http://example.com/", "example.com"),
            ("http://example.com:/", "http://example.com/", "example.com"),
            ("http://example.com:0080/", "http://example.com/", "example.com"),
            ("https://example.com:443/a", "https://example.com/a", "example.com"),
            ("http://example.com:443/", "http://example.com:443/", "example.com:443"),
            ("https://example.com:8443/", "https://example.com:8443/", "example.com:8443"),
            ("http://h/a/../b/./c", "http://h/b/c", "h"),
            ("http://h/../../a", "http://h/a", "h"),
            ("http://h/a/..", "http://h/", "h"),
            ("http://h//a//b", "http://h//a//b", "h"),
            ("http://h/A%2fB?q=A&p=/../", "http://h/A%2fB?q=A&p=/../", "h"),
            ("http://h/a%62c?%7e=%2d%26", "http://h/a%62c?%7e=%2d%26", "h"),
            ("http://h/n/é?ü", "http://h/n/%C3%A9?%C3%BC", "h"),
            ("http://h/n/%c3%a9", "http://h/n/%c3%a9", "h"),
            ("http://h/a/%2e%2E/b/%2e/c", "http://h/b/c", "h"),
            ("http://h/%2541", "http://h/%2541", "h"),
            ("http://h/100%?%zz%4", "http://h/100%?%zz%4", "h"),
            ("http://h/a#fragment", "http://h/a", "h"),
            ("http://h?b=2&a=1#f", "http://h/?b=2&a=1", "h"),
            ("http://h/?", "http://h/?", "h"),
            ("http://[::0001]:80/", "http://[::1]/", "[::1]"),
            ("http://[2001:DB8::1]:8080/", "http://[2001:db8::1]:8080/", "[2001:db8::1]:8080"),
            ("http://0x7f.1/", "http://127.0.0.1/", "127.0.0.1"),
            ("http://2130706433/", "http://127.0.0.1/", "127.0.0.1"),
            ("http://%65xample.com/", "http://example.com/", "example.com"),
            ("http://BÜCHER.example/", "http://xn--bcher-kva.example/", "xn--bcher-kva.example"),
            ("http://user:pw@h/", "http://user:pw@h/", "h"),
            ("http://user@h/", "http://user@h/", "h"), ("http://user:@h/", "http://user@h/", "h"),
            ("http://@h/", "http://h/", "h"),
            ("http:///h/a", "http://h/a", "h"),
            ("http:h", "http://h/", "h"),
            ("http://h:0/", "http://h:0/", "h:0"),
            ("http://a\\b/", "http://a/b/", "a"),
            ("http://[::127.0.0.1]/", "http://[::7f00:1]/", "[::7f00:1]"),
        ])
    func canonical(url: String, text: String, host: String) throws {
        let canonical = try CanonicalURL(url)
        #expect(canonical.text == text)
        #expect(canonical.host == host)
        #expect(try CanonicalURL(text) == canonical)
    }

    @Test("The id is the first half of the canonical form's SHA-256")
    func identity() throws {
        // printf 'http://example.com/' | sha256sum
        #expect(try CanonicalURL("HTTP://EXAMPLE.com:80").id.hexadecimal == "2a1b402420ef46577471cdc7409b0fa2")
    }

    @Test(
        "A text that cannot be fetched is refused with its reason",
        arguments: [
            ("", .empty), ("http://", .noHost), ("http:///", .noHost), ("example.com", .noScheme),
            ("//h/x", .noScheme),
            ("localhost:8080/x", .noScheme), ("/etc/passwd", .noScheme), ("ftp://h/", .unsupportedScheme("ftp")),
            ("file:///etc/passwd", .unsupportedScheme("file")), ("javascript:alert(1)", .unsupportedScheme("javascript")),
            ("data:text/plain,x", .unsupportedScheme("data")), ("gopher://h/", .unsupportedScheme("gopher")),
            ("http://a b/", .forbiddenByte(0x20, offset: 8, in: .host)), (" http://h/", .forbiddenByte(0x20, offset: 0, in: .scheme)),
            ("http://h/a\tb", .forbiddenByte(9, offset: 10, in: .other)), ("http://h/\r\nX: y", .forbiddenByte(13, offset: 9, in: .other)),
            ("http://h/\0", .forbiddenByte(0, offset: 9, in: .other)), ("http://h/\u{7f}", .forbiddenByte(0x7f, offset: 9, in: .other)),
            ("http://h:99999/", .badPort),
            ("http://h:x/", .badPort), ("http://ex%00ample/", .badHost),
            ("http://[::1/", .badHost), ("http://[zz]/", .badHost), ("http://[fe80::1%25eth0]/", .interfaceZone),
        ] as [(String, RequestRejection)])
    func refused(url: String, reason: RequestRejection) {
        #expect(throws: reason) { try CanonicalURL(url) }
    }

    @Test("The length limit is on bytes and exact")
    func length() throws {
        let longest = "http://h/" + String(repeating: "a", count: CanonicalURL.maximumLength - 9)
        #expect(try CanonicalURL(longest).text == longest)
        #expect(throws: RequestRejection.tooLong(bytes: 8193)) { try CanonicalURL(longest + "a") }
    }

    @Test("Bytes that are not UTF-8 are not a URL")
    func encoding() throws {
        #expect(throws: RequestRejection.notUTF8) { try CanonicalURL(bytes: Array("http://h/".utf8) + [0xff]) }
        #expect(try CanonicalURL(bytes: Array("http://h/ü".utf8)).text == "http://h/%C3%BC")
    }

    @Test("Its description has no password")
    func description() throws {
        #expect(try CanonicalURL("http://user:pw@h/?token=abc").description == "http://h/?token=…")
    }

    @Test(arguments: [
        ("http://H/", "h", "h"), ("http://h:80/", "h", "h"), ("https://h:443/", "h", "h"), ("http://h:8080/", "h:8080", "h"),
        ("http://10.0.0.1:81/", "10.0.0.1:81", "10.0.0.1"), ("http://[::1]/", "[::1]", "[::1]"),
        ("http://[fd00::12]:8080/", "[fd00::12]:8080", "[fd00::12]"),
    ])
    func `a host has its port unless that is the scheme's own, and its name has none`(url: String, host: String, name: String) throws {
        #expect(try CanonicalURL(url).host == host && CanonicalURL(url).hostName == name)
    }
}
