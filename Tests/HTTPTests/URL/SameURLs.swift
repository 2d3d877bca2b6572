extension URLPair {
    /// Pairs that are one URL.
    static let same: [URLPair] = scheme + names + addresses + userInfo + paths + escapes

    private static let scheme = [
        URLPair("HTTP://h/", "http://h/", "3986 6.2.2.1: a scheme has no case"),
        URLPair("hTTpS://h/", "https://h/", "3986 6.2.2.1"),
        URLPair("http:/h/a", "http://h/a", "WHATWG, special authority slashes"),
        URLPair("http:///h/a", "http://h/a", "WHATWG, special authority slashes"),
        URLPair("http:h/a", "http://h/a", "WHATWG, special authority slashes"),
        URLPair("http:////h/a", "http://h/a", "WHATWG, special authority slashes"),
        URLPair("http:\\\\h\\a", "http://h/a", "WHATWG: a backslash is a slash"),
        URLPair("http:/\\u:p@h/", "http://u:p@h/", "WHATWG: a backslash is a slash"),
        URLPair("http://h", "http://h/", "3986 6.2.3: an empty path is /"),
        URLPair("http://h?a", "http://h/?a", "3986 6.2.3"),
        URLPair("http://h#f", "http://h/", "3986 6.2.3 and 3.5"),
        URLPair("http://h/a#f", "http://h/a", "3986 3.5: a fragment is not sent"),
        URLPair("http://h/a#", "http://h/a", "3986 3.5"),
        URLPair("http://h/?a#b?c", "http://h/?a", "3986 3.5: a question mark behind # is the fragment's"),
        URLPair("http://h#/../a", "http://h/", "3986 3.5: so is a slash"),
        URLPair("http://h:80/", "http://h/", "3986 6.2.3: the scheme's own port"),
        URLPair("https://h:443/", "https://h/", "3986 6.2.3"),
        URLPair("http://h:/", "http://h/", "3986 6.2.3: an empty port is the scheme's own"),
        URLPair("http://h:0080/", "http://h/", "WHATWG, port state: it is a number"),
        URLPair("http://h:08080/", "http://h:8080/", "WHATWG, port state"),
    ]

    private static let names = [
        URLPair("http://ExAmple.COM/", "http://example.com/", "3986 6.2.2.1: a host has no case"),
        URLPair("http://%65xample.com/", "http://example.com/", "3986 6.2.2.2; WHATWG decodes a host"),
        URLPair("http://%45xample.com/", "http://example.com/", "WHATWG: decoded first, then lowered"),
        URLPair("http://a%2ecom/", "http://a.com/", "WHATWG decodes a host"),
        URLPair("http://BÜCHER.example/", "http://xn--bcher-kva.example/", "WHATWG, domain to ASCII"),
        URLPair("http://bücher.example/", "http://BÜCHER.example/", "WHATWG, domain to ASCII: UTS 46 lowers"),
        URLPair("http://b%C3%BCcher.example/", "http://bücher.example/", "WHATWG decodes, then takes the domain to ASCII"),
        URLPair("http://bu\u{308}cher.example/", "http://b\u{fc}cher.example/", "UTS 46: NFC"),
        URLPair("http://XN--BCHER-KVA.example/", "http://bücher.example/", "3986 6.2.2.1: Punycode has no case either"),
        URLPair("http://faß.de/", "http://xn--fa-hia.de/", "WHATWG: nontransitional, ß is a letter"),
        URLPair("http://ｅｘａｍｐｌｅ.com/", "http://example.com/", "UTS 46: full width is compatible"),
        URLPair("http://例え。テスト/", "http://例え.テスト/", "UTS 46: an ideographic full stop is a dot"),
        URLPair("http://a．b｡c/", "http://a.b.c/", "UTS 46: as are the wide and the half one"),
        URLPair("http://a%E3%80%82b/", "http://a.b/", "WHATWG decodes, then UTS 46"),
        URLPair("http://a\u{ad}b.com/", "http://ab.com/", "UTS 46 ignores a soft hyphen"),
        URLPair("http://☃.net/", "http://xn--n3h.net/", "UTS 46 lets symbols be"),
    ]

    private static let addresses = [
        URLPair("http://2130706433/", "http://127.0.0.1/", "WHATWG, IPv4 parser: one number"),
        URLPair("http://0x7f000001/", "http://127.0.0.1/", "WHATWG, IPv4 parser: hexadecimal"),
        URLPair("http://0X7F.1/", "http://127.0.0.1/", "WHATWG, IPv4 parser: short"),
        URLPair("http://0177.0.0.1/", "http://127.0.0.1/", "WHATWG, IPv4 parser: octal"),
        URLPair("http://00000177.0.1/", "http://127.0.0.1/", "WHATWG, IPv4 parser"),
        URLPair("http://127.1/", "http://127.0.0.1/", "WHATWG, IPv4 parser"),
        URLPair("http://1.2.3/", "http://1.2.0.3/", "WHATWG, IPv4 parser: the last number fills the rest"),
        URLPair("http://0/", "http://0.0.0.0/", "WHATWG, IPv4 parser"),
        URLPair("http://4294967295/", "http://255.255.255.255/", "WHATWG, IPv4 parser"),
        URLPair("http://%31%32%37.1/", "http://127.0.0.1/", "WHATWG decodes first"),
        URLPair("http://１２７。０。０。１/", "http://127.0.0.1/", "UTS 46 first, then the IPv4 parser"),
        URLPair("http://１２７.１/", "http://127.0.0.1/", "UTS 46 first, then the IPv4 parser"),
        URLPair("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/", "WHATWG, IPv6 serializer; RFC 5952 4.2"),
        URLPair("http://[::0001]/", "http://[::1]/", "RFC 5952 4.1"),
        URLPair("http://[2001:DB8::A]/", "http://[2001:db8::a]/", "RFC 5952 4.3"),
        URLPair("http://[2001:db8:0:0:1:0:0:1]/", "http://[2001:db8::1:0:0:1]/", "RFC 5952 4.2.3: the first of equal runs"),
        URLPair("http://[1:0:0:2::3]/", "http://[1::2:0:0:0:3]/", "RFC 5952 4.2.3: the longest run"),
        URLPair("http://[::1:2:3:4:5:6:7]/", "http://[0:1:2:3:4:5:6:7]/", "RFC 5952 4.2.2"),
        URLPair("http://[1:2:3:4:5:6:7::]/", "http://[1:2:3:4:5:6:7:0]/", "RFC 5952 4.2.2"),
        URLPair("http://[::ffff:127.0.0.1]/", "http://[::FFFF:7f00:1]/", "WHATWG, IPv6 parser"),
        URLPair("http://[64:ff9b::1.2.3.4]/", "http://[64:ff9b::102:304]/", "WHATWG, IPv6 parser"),
        URLPair("http://127.0.0.1./", "http://127.0.0.1/", "WHATWG, IPv4 parser: the root's dot"),
        URLPair("http://0x/", "http://0.0.0.0/", "WHATWG, IPv4 parser: no digits are 0"),
        URLPair("http://[::1]:80/", "http://[::1]/", "3986 6.2.3"),
        URLPair("http://[::1]:/", "http://[::1]/", "3986 6.2.3"),
    ]

    private static let userInfo = [
        URLPair("http://@h/", "http://h/", "WHATWG: no credentials"),
        URLPair("http://:@h/", "http://h/", "WHATWG: no credentials"),
        URLPair("http://u:|p@h/", "http://u:%7Cp@h/", "WHATWG, userinfo percent-encode set"),
        URLPair("http://u@h/", "http://u:@h/", "WHATWG: an empty password is none"),
        URLPair("http://u@v@h/", "http://u%40v@h/", "WHATWG: the last @ ends the credentials"),
        URLPair("http://ü:é@h/", "http://%C3%BC:%C3%A9@h/", "WHATWG, userinfo percent-encode set"),
    ]

    private static let paths = [
        URLPair("http://h/a/../b/./c", "http://h/b/c", "3986 6.2.2.3"),
        URLPair("http://h/../../a", "http://h/a", "3986 5.2.4: above the root is the root"),
        URLPair("http://h/.", "http://h/", "3986 6.2.2.3"),
        URLPair("http://h/..", "http://h/", "3986 6.2.2.3"),
        URLPair("http://h/a/.", "http://h/a/", "3986 6.2.2.3: what is left ends in a slash"),
        URLPair("http://h/a/b/..", "http://h/a/", "3986 6.2.2.3"),
        URLPair("http://h/a//../b", "http://h/a/b", "3986 5.2.4: an empty segment is one"),
        URLPair("http://h/%2e%2E/b/%2e/c", "http://h/b/c", "WHATWG: escaped dots are dots"),
        URLPair("http://h/a/.%2e/b", "http://h/b", "WHATWG, double-dot segment"),
        URLPair("http://h/a/%2e", "http://h/a/", "WHATWG, single-dot segment"),
        URLPair("http://h/..?a", "http://h/?a", "3986 6.2.2.3"),
    ]

    private static let escapes = [
        URLPair("http://h/a\\b", "http://h/a/b", "WHATWG: a backslash is a slash"),
        URLPair("http://a.com\\@b.com/", "http://a.com/@b.com/", "WHATWG: a backslash ends the host"),
        URLPair("http://h/é", "http://h/%C3%A9", "WHATWG, path percent-encode set"),
        URLPair("http://h/?é", "http://h/?%C3%A9", "WHATWG, query percent-encode set"),
        URLPair("http://h/a\u{a0}b", "http://h/a%C2%A0b", "WHATWG, path percent-encode set: an unbreakable space is no space"),
        URLPair("http://h/\u{feff}a", "http://h/%EF%BB%BFa", "WHATWG, path percent-encode set"),
        URLPair("http://h/\"<a>", "http://h/%22%3Ca%3E", "WHATWG, path percent-encode set"),
        URLPair("http://h/{a}^`", "http://h/%7Ba%7D%5E%60", "WHATWG, path percent-encode set"),
        URLPair("http://h/?\"<a>", "http://h/?%22%3Ca%3E", "WHATWG, query percent-encode set"),
        URLPair("http://h/?a'b", "http://h/?a%27b", "WHATWG, special-query percent-encode set"),
    ]
}
