extension EvilBehaviour {
    /// The body is "hello" wherever it is one.
    var length: EvilScript? {
        switch self {
        case .truncatedBody: Self.lengths("10") + [.close]
        case .longerBody: Self.lengths("5") + [.send(", and more"), .close]
        case .twoLengths: Self.lengths("3", "5") + [.close]
        case .twoEqualLengths: Self.lengths("5", "5")
        case .lengthList: Self.lengths("5, 5")
        case .differingLengthList: Self.lengths("5, 3") + [.close]
        case .negativeLength: Self.lengths("-5") + [.close]
        case .plusLength: Self.lengths("+5") + [.close]
        case .hexLength: Self.lengths("0x5") + [.close]
        case .emptyLength: Self.lengths("") + [.close]
        case .wordLength: Self.lengths("five") + [.close]
        case .lengthWithGarbage: Self.lengths("5x") + [.close]
        case .lengthWithBlank: Self.lengths("5 5") + [.close]
        // Headers that libcurl passes over, and others do not.
        case .lengthBehindBlank: .head("HTTP/1.1 200 OK", "Content-Length : 100") + [.send("hello"), .close]
        case .foldedLength: .head("HTTP/1.1 200 OK", "Content-Length:\r\n 100") + [.send("hello"), .close]
        case .chunkedBehindBlank: .head("HTTP/1.1 200 OK", "Transfer-Encoding : chunked") + [.send("5\r\nhello\r\n0\r\n\r\n"), .close]
        case .foldedChunked: .head("HTTP/1.1 200 OK", "Transfer-Encoding:\r\n chunked") + [.send("5\r\nhello\r\n0\r\n\r\n"), .close]
        // One more than 64 bits hold, and five more: what a careless parser takes for 5.
        case .overflowingLength: Self.lengths("99999999999999999999999999") + [.close]
        case .wrappingLength: Self.lengths("18446744073709551621") + [.close]
        case .endsWithConnection: .head("HTTP/1.0 200 OK") + [.send("hello"), .close]
        case .emptyBody: .answer(body: "")
        default: bodyless
        }
    }

    /// Answers that have no body, or not this one.
    private var bodyless: EvilScript? {
        switch self {
        case .noContentWithBody: .head("HTTP/1.1 204 No Content") + [.send("hello")]
        case .noContentWithLength: .answer("204 No Content")
        case .resetContentWithBody: .answer("205 Reset Content")
        case .notModifiedUnasked: .head("HTTP/1.1 304 Not Modified", "ETag: \"x\"")
        case .notModifiedWithBody: .answer("304 Not Modified")
        case .partialUnasked: .answer("206 Partial Content", "Content-Range: bytes 0-4/10")
        default: nil
        }
    }

    private static func lengths(_ values: String...) -> EvilScript {
        .head("HTTP/1.1 200 OK", values.map { "Content-Length: \($0)" }) + [.send("hello")]
    }
}
