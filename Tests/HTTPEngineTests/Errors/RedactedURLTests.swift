import Testing

@testable import HTTPEngine

@Suite struct RedactedURLTests {
    @Test(
        "User, password, secret parameters and fragments are not printed, whatever the text around them",
        arguments: [
            ("http://u:p@h/a@b", "http://h/a@b"), ("http://u:p@x@h/", "http://h/"), ("u:p@h/", "h/"), ("HTTP://u:p@h", "HTTP://h"),
            ("http:/u:p@h/", "http:/h/"), ("http:\\\\u:p@h/", "http:\\\\h/"),
            ("http://h/?a=1&X-Amz-Signature=f&b", "http://h/?a=1&X-Amz-Signature=…&b"),
            ("http://h/?access_token=t#f", "http://h/?access_token=…"), ("http://h/?Key=", "http://h/?Key=…"),
            ("http://h/?q=a=b", "http://h/?q=a=b"), ("http://h/a#access_token=t", "http://h/a"),
            ("http://h/#\u{301}token=t?a", "http://h/"),
            ("http://h?a#b?c", "http://h?a"), ("#f", ""),
            ("", ""), ("?", "?"), ("@", ""), ("http://h?u=a@b", "http://h?u=a@b"),
            (
                "http://h/?user[Password]=p&X%2DAmz%2Dsi%67nature=f&pin=1&sid=2&csrf=3",
                "http://h/?user[Password]=…&X%2DAmz%2Dsi%67nature=…&pin=…&sid=…&csrf=…"
            ),
            ("http://h/?author=a&keyword=b&spinner=c", "http://h/?author=a&keyword=b&spinner=c"),
        ])
    func redaction(url: String, printed: String) {
        #expect(RedactedURL(url).description == printed)
    }

    private static let disguises = [
        "//user:hunter2@h/", "\\\\user:hunter2@h/", "/\\user:hunter2@h/", "http:/user:hunter2@h", "http:user:hunter2@h",
        "HTTP:\\\\user:hunter2@h",
        "http:\\/user:hunter2@h/", "http:////user:hunter2@h/", "ht\ttp://user:hunter2@h/", "http\n://user:hunter2@h/",
        "http:/\t/user:hunter2@h/",
        "http:\t//user:hunter2@h/", "http:\u{1}//user:hunter2@h/", "http:// /user:hunter2@h/", "http://a@b@user:hunter2@h/",
        "http://user:hunter2@@h/", "http://user:@hunter2@h/", "http://user:hun/hunter2@h/", "http://user:hun?hunter2@h/",
        "http://user:hun#hunter2@h/", "http://user:hun\\hunter2@h/", "http://user%3Ahunter2%40h/",
        "http%3A%2F%2Fuser%3Ahunter2%40h%2F", "http%3A//user:hunter2@h/", "http://user:hunter2%40h/?a=1", "http:%2f%2fuser:hunter2@h/",
        "view-source:http://user:hunter2@h/", "\"http://user:hunter2@h/\"", "<http://user:hunter2@h/>", "see http://user:hunter2@h/",
        "at x/y http://user:hunter2@h/", "x/y http://user:hunter2@h/", "user:hun/hunter2@h/", "http://[::1]:x/hunter2@h/",
        "http://user:1234567/hunter2@h/",
        "\u{feff}http://user:hunter2@h/", "\u{a0}//user:hunter2@h/",
    ]

    @Test("No disguise of a URL shows its password", arguments: disguises)
    func noPassword(url: String) {
        let before = [""] + (0...0x20).map { String(UnicodeScalar(UInt8($0))) } + [" \t\r\n "]
        let texts = before.flatMap { start in [url, url.uppercased(), url + "a@b"].map { start + $0 } }
        let shown = texts.flatMap { [RedactedURL($0).description, RedactedURL.withoutUserInfo($0)] }
        let showing = shown.first { $0.lowercased().contains("hun") }
        #expect(showing == nil)
    }

    @Test(
        "The address of a proxy or a Redis hides what stands before its last at sign",
        arguments: ["user:hun://hunter2@h", " //user:hunter2@h", "http:\\\\user:hunter2@h"])
    func addresses(address: String) {
        #expect(RedactedURL(address: address).description.hasSuffix("h") && !RedactedURL(address: address).description.contains("hun"))
    }

    @Test(
        "A URL with a host, and no password, is as it was",
        arguments: [
            "http://h/@me", "https://h.example:8080/a@b/c%40d?e=f@g", "http://[::1]:80/@me", "http://[fe80::1]/a@b",
            "http://m\u{fc}nchen.example/@me",
            "h.example/@me", "localhost:8080/a@b", "http://h:/a@b", "http://h/?q=100%25@b", "photo.png", "/a/b", "?q=1",
            "http://a_b.c-d.e/@",
        ])
    func intact(url: String) {
        #expect(RedactedURL(url).description == url)
        #expect(RedactedURL.withoutUserInfo(url) == url)
    }
}
