extension EvilBehaviour {
    /// The body is "hello" wherever it is one.
    var statusLine: EvilScript? {
        switch self {
        case .http09: [.send("<html>hello</html>\n"), .close]
        case .binaryGarbage: [.send(EvilScript.garbage), .close]
        case .icy: Self.line("ICY 200 OK")
        case .http37: Self.line("HTTP/3.7 200 OK")
        case .http2InPlain: Self.line("HTTP/2 200")
        case .lowerCaseHTTP: Self.line("http/1.1 200 OK")
        case .noSpaceInStatus: Self.line("HTTP/1.1200 OK")
        case .statusWithoutReason: .head("HTTP/1.1 200", "Content-Length: 5") + [.send("hello")]
        case .status000: Self.line("HTTP/1.1 000 Nothing")
        case .status42: Self.line("HTTP/1.1 42 Answer")
        case .status1000: Self.line("HTTP/1.1 1000 Too Many")
        case .statusWord: Self.line("HTTP/1.1 abc OK")
        case .negativeStatus: Self.line("HTTP/1.1 -200 OK")
        case .status599: .answer("599 X")
        case .status600: .answer("600 X")
        case .status999: .answer("999 Request Denied")
        case .nulInStatusLine: Self.line("HTTP/1.1 200 O\0K")
        case .escapeInReason: .answer("404 \u{1b}[2J\u{7}")
        case .emptyLinesFirst: [.send("\r\n\r\n")] + .answer()
        default: informational ?? patience
        }
    }

    private var informational: EvilScript? {
        switch self {
        case .switchingProtocols:
            .head("HTTP/1.1 101 Switching Protocols", "Upgrade: evil", "Connection: Upgrade") + [.send("hello"), .silence]
        case .switchesToGarbage:
            .head("HTTP/1.1 101 Switching Protocols", "Upgrade: h2c", "Connection: Upgrade") + .flood([0xff, 0x00, 0xa5])
        case .continueUnasked: .head("HTTP/1.1 100 Continue") + .answer()
        case .earlyHints: .head("HTTP/1.1 103 Early Hints", "Link: </style.css>", "Content-Length: 3") + .answer()
        case .unknownInformational: .head("HTTP/1.1 199 X") + .answer()
        case .onlyInformational: .head("HTTP/1.1 100 Continue") + [.close]
        default: nil
        }
    }

    private var patience: EvilScript? {
        switch self {
        case .throttledSeconds: .answer("429 Too Many Requests", "Retry-After: 7")
        // The next day with this date and weekday is decades away.
        case .throttledDate: .answer("429 Too Many Requests", "Retry-After: Wed, 01 Jan 2098 00:00:00 GMT")
        case .throttledPastDate: .answer("429 Too Many Requests", "Retry-After: Sat, 01 Jan 2000 00:00:00 GMT")
        case .throttledGarbage: .answer("429 Too Many Requests", "Retry-After: soon")
        case .throttledNegative: .answer("429 Too Many Requests", "Retry-After: -7")
        case .throttledForever: .answer("429 Too Many Requests", "Retry-After: 99999999999999999999999999")
        case .unavailableSeconds: .answer("503 Service Unavailable", "Retry-After: 120")
        case .unauthorized:
            .answer(
                "401 Unauthorized", "WWW-Authenticate: Basic realm=\"evil\"", "WWW-Authenticate: NTLM", "WWW-Authenticate: Negotiate",
                "WWW-Authenticate: Digest realm=\"evil\", nonce=\"x\", algorithm=MD5")
        case .proxyAuthentication: .answer("407 Proxy Authentication Required", "Proxy-Authenticate: Basic realm=\"evil\"")
        default: nil
        }
    }

    private static func line(_ line: String) -> EvilScript {
        .head(line, "Content-Length: 5") + [.send("hello"), .close]
    }
}
