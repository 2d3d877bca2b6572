extension EvilBehaviour {
    func silence(_ request: EvilRequest) -> EvilScript? {
        switch self {
        case .neverAnswers:
            [.silence]
        case .oneByteASecond:
            .head("HTTP/1.1 200 OK", "Content-Length: 1000000") + Self.trickle("x")
        case .oneHeaderASecond:
            [.send("HTTP/1.1 200 OK\r\n")] + Self.trickle("X-Slow: 1\r\n")
        case .oneHeaderByteASecond:
            [.send("HTTP/1.1 200 OK\r\nX-Slow: ")] + Self.trickle("1")
        case .stallsInStatusLine:
            [.send("HTTP/1.1 2"), .silence]
        case .stallsInHeaders:
            [.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"), .silence]
        case .stallsInBody:
            .head("HTTP/1.1 200 OK", "Content-Length: 100") + [.send("hello"), .silence]
        case .stallsInChunk:
            .chunks("64\r\nhello") + [.silence]
        case .stallsBeforeLastChunk:
            .chunks("5\r\nhello\r\n") + [.silence]
        case .staysOpenAfterBody:
            .answer("200 OK", "Connection: close") + [.silence]
        case .staysOpenWithoutLength:
            .head() + [.send("hello"), .silence]
        case .slowInformationals:
            [.sendAgain(Array("HTTP/1.1 103 Early Hints\r\n\r\n".utf8), times: EvilScript.forever, every: .milliseconds(50))]
        case .slowRedirects:
            [.pause(.milliseconds(400))] + .answer("302 Found", "Location: \(request.target)", body: "")
        case .silentHandshake:
            [.silence]
        case .slowHandshake:
            // The beginning of a record that is announced as long as one may be.
            [.send([0x16, 0x03, 0x03, 0x40, 0x00])] + Self.trickle("\u{2}")
        case .neverAccepts:
            []
        default:
            nil
        }
    }

    private static func trickle(_ text: String) -> EvilScript {
        [.sendAgain(Array(text.utf8), times: EvilScript.forever, every: .seconds(1))]
    }
}
