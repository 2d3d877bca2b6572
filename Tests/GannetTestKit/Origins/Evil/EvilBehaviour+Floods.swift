extension EvilBehaviour {
    func flood(_ request: EvilRequest) -> EvilScript? {
        switch self {
        case .endlessBody:
            .head() + .flood("x")
        case .endlessChunks:
            .chunks("") + .flood("1000\r\n" + String(repeating: "x", count: 0x1000) + "\r\n")
        case .endlessTinyChunks:
            .chunks("") + .flood("1\r\nx\r\n")
        case .endlessChunkExtension:
            .chunks("1;") + .flood("x")
        case .endlessExtensions:
            .chunks("") + .flood("1;" + String(repeating: "x", count: 60_000) + "\r\nx\r\n")
        case .endlessChunkSize:
            .chunks("") + .flood("0")
        case .endlessTrailers:
            .chunks("5\r\nhello\r\n0\r\n") + .flood("X-Trailer: x\r\n")
        case .endlessErrorBody:
            .head("HTTP/1.1 404 Not Found") + .flood("x")
        case .endlessRedirectBody:
            .head("HTTP/1.1 302 Found", "Location: /good") + .flood("x")
        case .announcesTerabyte:
            .head("HTTP/1.1 200 OK", "Content-Length: 1000000000000") + .flood("x")
        default:
            headFlood
        }
    }

    private var headFlood: EvilScript? {
        let status = "HTTP/1.1 200 OK\r\n"
        return switch self {
        case .endlessHeaders:
            [.send(status)] + .flood("X-More: x\r\n")
        case .endlessFoldedHeader:
            [.send(status + "X-Folded: x\r\n")] + .flood(" x\r\n")
        case .endlessStatusLine:
            [.send("HTTP/1.1 200 ")] + .flood("x")
        case .endlessEmptyLines:
            .flood("\r\n")
        case .gigabyteHeader:
            [.send(status + "X-Long: "), .sendAgain(EvilScript.pieces(of: [0x78]), times: 1 << 14, every: .zero)]
                + [.send("\r\nContent-Length: 5\r\n\r\nhello")]
        case .informationalFlood:
            .flood("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
        case .cookieFlood:
            [.send(status)] + .flood("Set-Cookie: a=b; Path=/\r\n")
        case .manyCookies:
            .answer("200 OK", (1...200).map { "Set-Cookie: cookie\($0)=\($0); Path=/" }, body: Array("hello".utf8))
        case .manySmallHeaders:
            .answer("200 OK", Array(repeating: "a: b", count: 4000), body: Array("hello".utf8))
        case .hugeETag:
            .answer("200 OK", "ETag: \"\(String(repeating: "x", count: 102_400))\"")
        case .hugeContentType:
            .answer("200 OK", "Content-Type: \(String(repeating: "x", count: 102_400))")
        case .longContentType:
            .answer("200 OK", "Content-Type: \(String(repeating: "x", count: 51_200))")
        default:
            nil
        }
    }
}
