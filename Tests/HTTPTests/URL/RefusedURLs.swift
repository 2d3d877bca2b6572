import Testing

@testable import GannetHTTP

/// A text that is no URL to fetch, its rejection, and by which rule.
struct RefusedURL: Sendable {
    let text: String
    let rejection: RequestRejection
    let reason: String

    init(_ text: String, _ rejection: RequestRejection, _ reason: String) {
        self.text = text
        self.rejection = rejection
        self.reason = reason
    }
}

extension RefusedURL {
    static let all: [RefusedURL] = [
        RefusedURL(" http://h/", .forbiddenByte(0x20, offset: 0, in: .scheme), "WHATWG trims it; a row has none"),
        RefusedURL("http://h/ ", .forbiddenByte(0x20, offset: 9, in: .other), "WHATWG trims it; a row has none"),
        RefusedURL("http://h i/", .forbiddenByte(0x20, offset: 8, in: .host), "WHATWG: a forbidden byte"),
        RefusedURL("http://h: 80/", .forbiddenByte(0x20, offset: 9, in: .host), "WHATWG, port state"),
        RefusedURL("http://u v@h/", .forbiddenByte(0x20, offset: 8, in: .other), "WHATWG escapes it; in a row it is rather damage"),
        RefusedURL("hello world", .noScheme, "3986 4.2: relative to nothing"),
        RefusedURL("http://h/a b", .forbiddenByte(0x20, offset: 10, in: .other), "WHATWG escapes it; in a row it is rather damage"),
        RefusedURL("http://h/?a b", .forbiddenByte(0x20, offset: 11, in: .other), "WHATWG escapes it; in a row it is rather damage"),
        RefusedURL("ht\ntp://h/", .forbiddenByte(0x0a, offset: 2, in: .scheme), "WHATWG removes it; in a row it is rather damage"),
        RefusedURL("http://h/a\tb", .forbiddenByte(0x09, offset: 10, in: .other), "WHATWG removes it; in a row it is rather damage"),
        RefusedURL("http://h\t/", .forbiddenByte(0x09, offset: 8, in: .host), "WHATWG removes it; in a row it is rather damage"),
        RefusedURL("http://h/\r\nHost: x", .forbiddenByte(0x0d, offset: 9, in: .other), "it would begin a header"),
        RefusedURL("http://h/\0a", .forbiddenByte(0, offset: 9, in: .other), "WHATWG escapes it; in a row it is rather damage"),
        RefusedURL("http://h/\u{1b}[2J", .forbiddenByte(0x1b, offset: 9, in: .other), "WHATWG escapes it; in a row it is rather damage"),
        RefusedURL("http\\://h/", .noScheme, "3986 3.1"),
        RefusedURL("h/a", .noScheme, "3986 4.2: relative to nothing"),
        RefusedURL("//h/a", .noScheme, "3986 4.2"),
        RefusedURL("://h/", .noScheme, "3986 3.1: a scheme has a letter"),
        RefusedURL("ht%74p://h/", .noScheme, "3986 3.1: a scheme has no escapes"),
        RefusedURL("ws://h/", .unsupportedScheme("ws"), "not fetched"),
        RefusedURL("FTP://h/", .unsupportedScheme("ftp"), "not fetched"),
        RefusedURL("file:///etc/passwd", .unsupportedScheme("file"), "not fetched"),
        RefusedURL("http://", .noHost, "WHATWG: a special scheme has a host"),
        RefusedURL("http://?a", .noHost, "WHATWG: a special scheme has a host"),
        RefusedURL("http://..../", .badHost, "RFC 1035 2.3.1: a label has a letter; WHATWG lets it be"),
        RefusedURL("http://./", .badHost, "as above"),
        RefusedURL("http://a..b/", .badHost, "as above"),
        RefusedURL("http://.a/", .badHost, "as above"),
        RefusedURL("http://u@/", .noHost, "WHATWG: a special scheme has a host"),
        RefusedURL("http://u:p\\@h/", .badPort, "WHATWG: a backslash ends the host, so the user is one"),
        RefusedURL("http://ho%25st/", .badHost, "WHATWG: decoded, a forbidden byte"),
        RefusedURL("http://ho%2541/", .badHost, "WHATWG: decoded once"),
        RefusedURL("http://ho|st/", .badHost, "WHATWG: a forbidden byte"),
        RefusedURL("http://ho%2Fst/", .badHost, "WHATWG: decoded, a forbidden byte"),
        RefusedURL("http://ho%40st/", .badHost, "WHATWG: decoded, a forbidden byte"),
        RefusedURL("http://ho%00st/", .badHost, "WHATWG: decoded, a forbidden byte"),
        RefusedURL("http://ho%c0st/", .badHost, "WHATWG: decoded, not UTF-8"),
        RefusedURL("http://evil.c℀.example.com/", .badHost, "UTS 46 makes it a/c, and the host another"),
        RefusedURL("http://a／b/", .badHost, "UTS 46 makes it a slash"),
        RefusedURL("http://a＠b/", .badHost, "UTS 46 makes it an @"),
        RefusedURL("http://a＃b/", .badHost, "UTS 46 makes it a #"),
        RefusedURL("http://a：80/", .badHost, "UTS 46 makes it a colon"),
        RefusedURL("http://a!b/", .badHost, "WHATWG lets it be; no name has it"),
        RefusedURL("http://pay\u{200d}pal.com/", .badHost, "UTS 46, CheckJoiners"),
        RefusedURL("http://xn--a/", .badHost, "UTS 46: Punycode that means nothing"),
        RefusedURL("http://a％41/", .badHost, "UTS 46 makes it a %"),
        RefusedURL("http://＂a/", .badHost, "UTS 46 makes it a quotation mark; WHATWG lets it be, and no name has it"),
        RefusedURL("http://a＄b/", .badHost, "as above"),
        RefusedURL("http://a\u{202e}b/", .badHost, "UTS 46 has no marks that turn text around"),
        RefusedURL("http://256.1/", .badHost, "WHATWG, ends in a number: no address"),
        RefusedURL("http://4294967296/", .badHost, "WHATWG, ends in a number: no address"),
        RefusedURL("http://0x100000000/", .badHost, "WHATWG, ends in a number: no address"),
        RefusedURL("http://1.2.3.4.5/", .badHost, "WHATWG, ends in a number: no address"),
        RefusedURL("http://1.2.3.08/", .badHost, "WHATWG, ends in a number: no octal one"),
        RefusedURL("http://example.0x4/", .badHost, "WHATWG, ends in a number"),
        RefusedURL("http://example.1/", .badHost, "WHATWG, ends in a number"),
        RefusedURL("http://[::1/", .badHost, "WHATWG, IPv6 parser"),
        RefusedURL("http://[]/", .badHost, "WHATWG, IPv6 parser"),
        RefusedURL("http://[1::2:3:4:5:6:7:8]/", .badHost, "WHATWG, IPv6 parser"),
        RefusedURL("http://[::1.2.3]/", .badHost, "WHATWG, IPv6 parser"),
        RefusedURL("http://[127.0.0.1]/", .badHost, "WHATWG, IPv6 parser"),
        RefusedURL("http://[%3a%3a1]/", .badHost, "WHATWG: brackets are not decoded"),
        RefusedURL("http://[v1.a]/", .badHost, "3986 3.2.2 has it for the future"),
        RefusedURL("http://[fe80::1%25eth0]/", .interfaceZone, "WHATWG refuses zones"),
        RefusedURL("http://[fe80::1%eth0]/", .interfaceZone, "as above, in the old spelling"),
        RefusedURL("http://h:65536/", .badPort, "WHATWG, port state"),
        RefusedURL("http://h:99999999999999999999/", .badPort, "WHATWG, port state"),
        RefusedURL("http://h:-1/", .badPort, "WHATWG, port state"),
        RefusedURL("http://h:+80/", .badPort, "WHATWG, port state"),
        RefusedURL("http://h:0x50/", .badPort, "WHATWG, port state"),
        RefusedURL("http://h:%38%30/", .badPort, "WHATWG: a port has no escapes"),
        RefusedURL("http://h:80:80/", .badPort, "WHATWG, port state"),
        RefusedURL("http://::1/", .noHost, "3986 3.2.2: an IPv6 address stands in brackets"),
    ]
}

extension RefusedURL: CustomTestStringConvertible {
    var testDescription: String { "\(text.debugDescription): \(reason)" }
}
