import Testing

@testable import Results

@Suite struct SURTTests {
    // The answers of the `surt` package, 0.3.1. Scripts/check archives compares many more.
    @Test(
        arguments: [
            ("http://example.com", "com,example)/"), ("https://www2.Example.com:443/A/B/", "com,example)/a/b"),
            ("http://example.com:8080/?", "com,example:8080)/"), ("http://a.b.test/x/../y//z?b=2&a=1", "test,b,a)/y/z?a=1&b=2"),
            ("http://h/%2541%C3%A9%20?q=%2526", "h)/a%c3%a9%20?&q="),
            ("http://192.0.2.1/", "1,2,0,192)/"), ("http://[::1]:81/a", "::1:81)/a"),
            ("http://h/a?x=1&PHPSESSID=0123456789abcdef0123456789ABCDEF", "h)/a?&x=1"),
            ("http://h/a?jsessionid=0123456789abcdef0123456789ABCDEF&b", "h)/a?b"),
            ("http://h/(S(0123456789abcdefghijklmn))/p.aspx", "h)/p.aspx"), ("urn:uuid:1", "urn:uuid:1"),
        ])
    func `a key is the one that readers make`(url: String, key: String) { #expect(SURT.key(url) == key) }
}
