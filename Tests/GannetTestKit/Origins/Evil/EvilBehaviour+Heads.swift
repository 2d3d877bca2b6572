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
        case .switchingProtocols: Self.switching(to: "evil") + [.send("hello"), .silence]
        case .switchesToGarbage: Self.switching(to: "h2c") + .flood([0xff, 0x00, 0xa5])
        case .continueUnasked: .head("HTTP/1.1 100 Continue") + .answer()
        case .earlyHints: .head("HTTP/1.1 103 Early Hints", "Link: </style.css>", "Content-Length: 3") + .answer()
        case .unknownInformational: .head("HTTP/1.1 199 X") + .answer()
        case .onlyInformational: .head("HTTP/1.1 100 Continue") + [.close]
        default: nil
        }
    }

    private var patience: EvilScript? {
        switch self {
        case .throttledSeconds: Self.throttled("7")
        // The next day with this date and weekday is decades away.
        case .throttledDate: Self.throttled("Wed, 01 Jan 2098 00:00:00 GMT")
        case .throttledPastDate: Self.throttled("Sat, 01 Jan 2000 00:00:00 GMT")
        case .throttledGarbage: Self.throttled("soon")
        case .throttledNegative: Self.throttled("-7")
        case .throttledForever: Self.throttled("99999999999999999999999999")
        case .unavailableSeconds: .answer("503 Service Unavailable", "Retry-After: 120")
        case .unauthorized:
            .answer(
                "401 Unauthorized", "WWW-Authenticate: Basic realm=\"evil\"", "WWW-Authenticate: NTLM", "WWW-Authenticate: Negotiate",
                "WWW-Authenticate: Digest realm=\"evil\", nonce=\"x\", algorithm=MD5")
        case .proxyAuthentication: .answer("407 Proxy Authentication Required", "Proxy-Authenticate: Basic realm=\"evil\"")
        default: nil
        }
    }

    private static func switching(to name: String) -> EvilScript {
        .head("HTTP/1.1 101 Switching Protocols", "Upgrade: \(name)", "Connection: Upgrade")
    }

    private static func throttled(_ pause: String) -> EvilScript { .answer("429 Too Many Requests", "Retry-After: \(pause)") }

    private static func line(_ line: String, length: String = "Content-Length: 5") -> EvilScript {
        .head(line, length) + [.send("hello"), .close]
    }
}

extension EvilBehaviour {
    /// The body is "hello" wherever it is one.
    var header: EvilScript? {
        switch self {
        case .bareLineFeeds: [.send("HTTP/1.1 200 OK\nContent-Length: 5\n\nhello")]
        case .bareReturns: [.send("HTTP/1.1 200 OK\rContent-Length: 5\r\rhello"), .close]
        case .foldedHeader: Self.ok("Content-Type: text/plain;\r\n charset=utf-8")
        case .foldedFirstHeader: Self.ok(" X-Folded: into nothing")
        case .noColon: Self.ok("a line without a colon")
        case .emptyName: Self.ok(": value")
        case .blankBeforeColon: Self.line("HTTP/1.1 200 OK", length: "Content-Length : 5")
        case .nulInHeader: Self.ok("X-Nul: a\0b")
        case .nulInName: Self.ok("X\0Nul: a")
        case .invalidUTF8: Self.contentType([0x74, 0x2f, 0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80])
        case .controlInContentType: Self.contentType(Array("text/\u{1b}[2Jplain\u{7}\u{8}".utf8))
        case .latin1ContentType: Self.contentType(Array("text/caf".utf8) + [0xe9])
        case .twoContentTypes: Self.ok("Content-Type: text/plain", "Content-Type: image/png")
        // Headers that other clients learn from, or obey.
        case .temptingHeaders:
            Self.ok(
                "Alt-Svc: h2=\"10.0.0.1:443\", h3=\":443\"; ma=3600; persist=1",
                "Strict-Transport-Security: max-age=31536000; includeSubDomains; preload", "Refresh: 0; url=http://10.0.0.1/",
                "Content-Location: http://10.0.0.1/", "Set-Cookie: session=evil; Domain=127.0.0.1", "Upgrade: h2c", "Connection: upgrade")
        case .endsInHeaders: [.send("HTTP/1.1 200 OK\r\nContent-Type: text/pl"), .close]
        default: nil
        }
    }

    private static func ok(_ headers: String...) -> EvilScript { .answer("200 OK", headers, body: Array("hello".utf8)) }

    private static func contentType(_ bytes: [UInt8]) -> EvilScript {
        [.send("HTTP/1.1 200 OK\r\nContent-Type: "), .send(bytes), .send("\r\nContent-Length: 5\r\n\r\nhello")]
    }
}

extension EvilBehaviour {
    func redirect(_ request: EvilRequest) -> EvilScript? {
        switch self {
        case .redirectLoop: Self.to(path)
        case .growingRedirect: Self.to(request.target + "/" + String(repeating: "x", count: 1000))
        case .pingPong: Self.to(request.secureURL(Self.securePingPong.path))
        case .securePingPong: Self.to(request.plainURL(Self.pingPong.path))
        // A URL's credentials and a request's own headers must not follow there.
        case .redirectToOtherHost: Self.to(request.plainURL(Self.echo.path, host: "localhost"))
        case .redirectWithCredentials: Self.to("http://evil:secret@localhost:\(request.plainPort)\(Self.echo.path)")
        case .redirectWithMisleadingUser: Self.to("http://127.0.0.1:\(request.plainPort)@10.0.0.1/")
        case .redirectWithMisleadingBackslash: Self.to("http://10.0.0.1\\@127.0.0.1:\(request.plainPort)\(Self.echo.path)")
        case .redirectWithoutLocation: .answer("302 Found")
        case .redirectToNothing: Self.to("")
        case .redirectToLongURL: Self.to("\(Self.echo.path)?\(String(repeating: "x", count: 65_536))")
        case .redirectToEncodedLineBreak: Self.to("\(Self.echo.path)?a%0d%0aX-Smuggled:%20b")
        case .redirectToControl: Self.to("\(Self.echo.path)?a\u{1}\u{1b}b")
        case .redirectToNonASCII: Self.to("\(Self.echo.path)?é漢")
        case .redirectToSpaces: Self.to("\(Self.echo.path)?a b  c")
        case .redirectToNUL: Self.to("\(Self.good.path)\0.example/")
        case .redirectToFragment: Self.to("\(Self.good.path)#fragment")
        case .redirectWithoutScheme: Self.to("//127.0.0.1:\(request.plainPort)\(Self.good.path)")
        case .twoLocations: .answer("302 Found", "Location: \(Self.good.path)", "Location: file:///etc/passwd")
        // A name that a resolver of the test's answers with this host's address first and with a private one then.
        case .redirectToRebindingName: Self.to(request.plainURL(Self.good.path, host: "rebinding.test"))
        default: forbidden(request) ?? unusable
        }
    }

    /// To where nobody outside must send a client.
    private func forbidden(_ request: EvilRequest) -> EvilScript? {
        switch self {
        case .redirectToPrivate: Self.to("http://10.0.0.1/")
        case .redirectToMetadata: Self.to("http://169.254.169.254/latest/meta-data/")
        case .redirectToLoopback: Self.to(request.plainURL(Self.good.path, host: "127.0.0.2"))
        case .redirectToDecimalAddress: Self.to("http://167772161/")
        case .redirectToHexAddress: Self.to("http://0x0a000001/")
        case .redirectToOctalAddress: Self.to("http://012.0.0.1/")
        case .redirectToShortAddress: Self.to("http://10.1/")
        case .redirectToMappedAddress: Self.to("http://[::ffff:10.0.0.1]/")
        case .redirectToNAT64Address: Self.to("http://[64:ff9b::10.0.0.1]/")
        case .redirectToUnspecified: Self.to(request.plainURL(Self.good.path, host: "0.0.0.0"))
        // International names are mapped before they are looked up, these to an address.
        case .redirectToFullWidthAddress: Self.to("http://１０。０。０。１/")
        case .redirectToZone: Self.to("http://[fe80::1%25lo]/")
        case .redirectToFile: Self.to("file:///etc/passwd")
        case .redirectToFTP: Self.to("ftp://127.0.0.1/")
        case .redirectToGopher: Self.to("gopher://127.0.0.1:6379/_FLUSHALL")
        case .redirectToData: Self.to("data:text/plain,hello")
        case .redirectToScript: Self.to("javascript:alert(1)")
        default: nil
        }
    }

    private var unusable: EvilScript? {
        switch self {
        case .redirectToPortZero: Self.to("http://127.0.0.1:0/")
        case .redirectToPortTooHigh: Self.to("http://127.0.0.1:99999/")
        case .redirectToEmptyHost: Self.to("http://:80/")
        default: nil
        }
    }

    private static func to(_ location: String) -> EvilScript { .answer("302 Found", "Location: \(location)", body: "") }
}
