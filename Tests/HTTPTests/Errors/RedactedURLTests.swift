import GannetBase
import Testing

@testable import GannetHTTP

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
            // The fetcher reads a backslash as a slash: the host ends there.
            ("http://a\\@b/", "http://a\\b/"), ("http://a\\u:p@b/", "http://a\\b/"), ("http://u:p@a:80\\q@b/?c", "http://a:80\\b/?c"),
            ("http://u\\v:p@h/", "http://u\\h/"), ("http://u:p\\q@h/", "http://h/"), ("http://u:p@a\\b", "http://a\\b"),
            // Parameters of the path.
            ("http://h/p;token=s", "http://h/p;token=…"), ("http://h/p;JSESSIONID=s/q?a=1", "http://h/p;JSESSIONID=…/q?a=1"),
            ("http://h/a;v=1;sid=s;w=2/b;v=2", "http://h/a;v=1;sid=…/b;v=2"), ("http://h/p%3btoken%3Ds/q", "http://h/p%3btoken%3D…/q"),
            ("http://h/a;v=1/b;w/c=d", "http://h/a;v=1/b;w/c=d"), ("http://h/p;token=?a=1", "http://h/p;token=…?a=1"),
            ("http://h/?a=1;token=s&b", "http://h/?a=1;token=…&b"), ("http://h/?token=a;b/c?d&e=f", "http://h/?token=…&e=f"),
            // URLs inside a URL.
            ("http://h/?next=http://u:p@i/?token=t&a=1", "http://h/?next=http://i/?token=…&a=1"),
            (
                "http://h/?next=http%3A%2F%2Fu%3Ap%40i%2F%3Fa%3D1%26token%3Ds%26b%3D2&c=3",
                "http://h/?next=http%3A%2F%2Fi%2F%3Fa%3D1%26token%3D…%26b%3D2&c=3"
            ),
            (
                "http://h/?a=http%3a%2f%2fi%2f%3fb%3dhttp%253a%252f%252fu%253ap%2540j%252f%253fsig%253ds%2526c%253d1&d",
                "http://h/?a=http%3a%2f%2fi%2f%3fb%3dhttp%253a%252f%252fj%252f%253fsig%253d…%2526c%253d1&d"
            ),
            ("http://h/?next=%2Flogin%3Ftoken%3Ds", "http://h/?next=%2Flogin%3Ftoken%3D…"),
            ("http://h/?n=/a;sid=s&b", "http://h/?n=/a;sid=…&b"),
            ("http://h/?next=//u:p@i/", "http://h/?next=//i/"), ("http://h/web/2020/http://u:p@i/a", "http://h/web/2020/http://i/a"),
            ("http://h/?state=token%3Ds%26a%3Db", "http://h/?state=token%3D…%26a%3Db"),
            ("http://h/?token=a%26b%3Dc&d=e", "http://h/?token=…&d=e"), ("http://h/?a=http://i&mail=a@b", "http://h/?a=http://i&mail=a@b"),
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
        "No disguise of a URL inside another one shows its password, however often it is escaped",
        arguments: [
            "http://user:hunter2@h/", "HTTP://user:hunter2@h", "http:user:hunter2@h/", "http:/user:hunter2@h/", "http:\\\\user:hunter2@h/",
            "//user:hunter2@h/", "\\\\user:hunter2@h/", "ftp://user:hunter2@h/", "http://user:hun/hunter2@h/", "http://user:hun?hunter2@h/",
            "http://user:hun#hunter2@h/", "http://user:hun&hunter2@h/", "http://a@user:hunter2@h/", "http://user:hun%26hunter2@h/",
            "http:// user:hunter2@h/", "http://h/?u=http://user:hunter2@h/", "http://h/?token=hunter2", "/p;token=hunter2",
            "p?a=1&sig=hunter2",
            "http://h/#access_token=hunter2", "?password=hunter2", "token=hunter2",
        ])
    func noPasswordInside(url: String) {
        func escaped(_ text: String) -> String { text.utf8.map { "%" + [$0].hexadecimal }.joined() }
        func slightly(_ text: String) -> String {
            text.utf8.map { "%&=?#/: ".utf8.contains($0) ? "%" + [$0].hexadecimal : String(UnicodeScalar($0)) }.joined()
        }
        func plain(_ text: String) -> String {
            (0..<4).reduce(text) { text, _ in String(decoding: [UInt8].percentDecoded(text.utf8).bytes, as: UTF8.self) }
        }
        let once = [slightly(url), escaped(url), slightly(url).uppercased()]
        let inner = once + once.map(slightly) + [slightly(slightly(slightly(url)))]
        let texts = inner.flatMap { ["http://h/?next=\($0)", "https://h/a?b=c&next=\($0)&d=e", "h?next=\($0)#f"] }
        let showing = texts.first { plain(RedactedURL.withoutSecrets($0)).lowercased().contains("hun") }
        #expect(showing == nil)
    }

    @Test("A text with very many URLs in it is shown up to one of them")
    func manyURLs() {
        let text = String(repeating: "http:", count: 1000)
        #expect(RedactedURL.withoutSecrets(text) == text)
        let shown = RedactedURL.withoutSecrets("http://h/?" + text + "x&user:hunter2@h")
        #expect(shown.hasSuffix("http:…") && shown.utf8.count < 1000)
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
            "http://a_b.c-d.e/@", "http://h/?q=%23fff&r=a%3Db%26c&s=100%25", "http://h/?resource=acct%3Aa%40b", "http://h/a;v=1.2/b;c",
            "http://h/?next=http%3A%2F%2Fi%2F%40me%3Fa%3Db", "http://h/%25%2525%zz%4", "https://h//@me", "http://h/?time=12:30/@me",
        ])
    func intact(url: String) {
        #expect(RedactedURL(url).description == url)
        #expect(RedactedURL.withoutUserInfo(url) == url)
    }
}
