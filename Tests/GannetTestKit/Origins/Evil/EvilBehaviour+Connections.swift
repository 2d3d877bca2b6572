extension EvilBehaviour {
    func connection(_ request: EvilRequest) -> EvilScript? {
        switch self {
        case .good: .answer("200 OK", ["Content-Type: text/plain"], body: EvilOrigin.goodBody)
        case .echo: .answer("200 OK", ["Content-Type: text/plain"], body: request.head)
        case .refusesConnections: []
        case .closesAtOnce, .closesAfterRequest: [.close]
        case .resetsAtOnce, .resetsAfterRequest: [.reset]
        case .speaksFirst: .answer() + [.readUntil("\r\n\r\n"), .close]
        case .resetsInHeaders: [.send("HTTP/1.1 200 OK\r\nContent-Ty"), .reset]
        case .resetsInBody: .head("HTTP/1.1 200 OK", "Content-Length: 10") + [.send("hello"), .reset]
        case .halfClosesUnanswered: [.halfClose]
        case .halfClosesInBody: .head("HTTP/1.1 200 OK", "Content-Length: 10") + [.send("hello"), .halfClose]
        case .halfClosesAfterBody: .answer("200 OK", "Connection: close") + [.halfClose]
        // The client's request crosses the end of a connection that it was told to keep.
        case .closesOnSecondRequest: request.numberOnConnection == 1 ? .answer() : [.close]
        case .resetsOnSecondRequest: request.numberOnConnection == 1 ? .answer() : [.reset]
        case .closesWhenIdle: .answer() + [.close]
        // The garbage must not become the answer to the next request.
        case .garbageAfterAnswer: .answer() + [.send("garbage\r\n\r\n")]
        case .extraAnswer, .secureExtraAnswer: .answer() + .answer("200 OK", body: "poison")
        case .lateExtraAnswer: .answer() + [.pause(.milliseconds(20))] + .answer("200 OK", body: "poison")
        // Proxies say this to a connection that has been idle for long.
        case .lateTimeout:
            .answer() + [.pause(.milliseconds(20))] + .answer("408 Request Timeout", "Connection: close", body: "poison") + [.close]
        default: nil
        }
    }
}

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
            [.pause(.milliseconds(400))] + .answer("302 Found", "Location: \(request.target)/on", body: "")
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

extension EvilBehaviour {
    var tls: EvilScript? {
        switch self {
        // For those who do not mind the certificate.
        case .expiredCertificate, .wrongHostCertificate, .selfSignedCertificate, .outdatedTLS: [.readUntil("\r\n\r\n")] + .answer()
        case .plainInsteadOfTLS: .answer("400 Bad Request", body: "hello, in plain") + [.close]
        case .garbageHandshake: [.send(EvilScript.garbage), .silence]
        // "Change cipher spec", again and again.
        case .endlessHandshake: .flood([0x14, 0x03, 0x03, 0x00, 0x01, 0x01])
        // A record of version 1.2 with the fatal alert "handshake_failure".
        case .alertHandshake: [.send([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]), .silence]
        case .closesInHandshake: [.read(10), .close]
        case .resetsInHandshake: [.read(10), .reset]
        case .resetsAfterHandshake: [.reset]
        // An attacker between the two can do this. A body that ends with the connection is whole only after a farewell.
        case .cutWithoutFarewell: .head() + [.send("hell"), .halfClose]
        case .garbageUnderTLS: [.send(EvilScript.garbage), .close]
        default: nil
        }
    }
}
