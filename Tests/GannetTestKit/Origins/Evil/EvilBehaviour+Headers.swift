extension EvilBehaviour {
    /// The body is "hello" wherever it is one.
    var header: EvilScript? {
        switch self {
        case .bareLineFeeds: [.send("HTTP/1.1 200 OK\nContent-Length: 5\n\nhello")]
        case .bareReturns: [.send("HTTP/1.1 200 OK\rContent-Length: 5\r\rhello"), .close]
        case .foldedHeader: .answer("200 OK", "Content-Type: text/plain;\r\n charset=utf-8")
        case .foldedFirstHeader: .answer("200 OK", " X-Folded: into nothing")
        case .noColon: .answer("200 OK", "a line without a colon")
        case .emptyName: .answer("200 OK", ": value")
        case .blankBeforeColon: .head("HTTP/1.1 200 OK", "Content-Length : 5") + [.send("hello"), .close]
        case .nulInHeader: .answer("200 OK", "X-Nul: a\0b")
        case .nulInName: .answer("200 OK", "X\0Nul: a")
        case .invalidUTF8: Self.contentType([0x74, 0x2f, 0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80])
        case .controlInContentType: Self.contentType(Array("text/\u{1b}[2Jplain\u{7}\u{8}".utf8))
        case .latin1ContentType: Self.contentType(Array("text/caf".utf8) + [0xe9])
        case .twoContentTypes: .answer("200 OK", "Content-Type: text/plain", "Content-Type: image/png")
        // What other clients learn from, or obey.
        case .temptingHeaders:
            .answer(
                "200 OK", "Alt-Svc: h2=\"10.0.0.1:443\", h3=\":443\"; ma=3600; persist=1",
                "Strict-Transport-Security: max-age=31536000; includeSubDomains; preload", "Refresh: 0; url=http://10.0.0.1/",
                "Content-Location: http://10.0.0.1/", "Set-Cookie: session=evil; Domain=127.0.0.1", "Upgrade: h2c", "Connection: upgrade")
        case .endsInHeaders: [.send("HTTP/1.1 200 OK\r\nContent-Type: text/pl"), .close]
        default: nil
        }
    }

    private static func contentType(_ bytes: [UInt8]) -> EvilScript {
        [.send("HTTP/1.1 200 OK\r\nContent-Type: "), .send(bytes), .send("\r\nContent-Length: 5\r\n\r\nhello")]
    }
}
