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
        // What happens to a client whose request crosses the end of a connection it was told to keep.
        case .closesOnSecondRequest: request.numberOnConnection == 1 ? .answer() : [.close]
        case .resetsOnSecondRequest: request.numberOnConnection == 1 ? .answer() : [.reset]
        case .closesWhenIdle: .answer() + [.close]
        // What must not become the answer to the next request.
        case .garbageAfterAnswer: .answer() + [.send("garbage\r\n\r\n")]
        case .extraAnswer, .secureExtraAnswer: .answer() + .answer("200 OK", body: "poison")
        case .lateExtraAnswer: .answer() + [.pause(.milliseconds(20))] + .answer("200 OK", body: "poison")
        // What proxies say to a connection that has been idle for long.
        case .lateTimeout:
            .answer() + [.pause(.milliseconds(20))] + .answer("408 Request Timeout", "Connection: close", body: "poison") + [.close]
        default: nil
        }
    }
}
