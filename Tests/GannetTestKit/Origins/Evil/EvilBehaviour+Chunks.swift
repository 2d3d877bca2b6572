extension EvilBehaviour {
    /// The body is "hello" wherever it is one.
    var chunk: EvilScript? {
        switch self {
        case .truncatedChunk: .chunks("a\r\nhello") + [.close]
        case .noLastChunk: .chunks("5\r\nhello\r\n") + [.close]
        case .noTrailerEnd: .chunks("5\r\nhello\r\n0\r\n") + [.close]
        // Seventeen digits of 4 bits, and what a careless parser takes for 5.
        case .overflowingChunk: .chunks("fffffffffffffffff\r\nhello\r\n0\r\n\r\n") + [.close]
        case .wrappingChunk: .chunks("10000000000000005\r\nhello\r\n0\r\n\r\n") + [.close]
        case .negativeChunk: .chunks("-5\r\nhello\r\n0\r\n\r\n") + [.close]
        case .hexPrefixChunk: .chunks("0x5\r\nhello\r\n0\r\n\r\n") + [.close]
        case .emptyChunkSize: .chunks("\r\nhello\r\n0\r\n\r\n") + [.close]
        case .wordChunk: .chunks("five\r\nhello\r\n0\r\n\r\n") + [.close]
        case .chunkWithBlanks: .chunks("5   \r\nhello\r\n0\r\n\r\n")
        case .longerChunk: .chunks("5\r\nhello, and more\r\n0\r\n\r\n") + [.close]
        case .bareLineFeedChunks: .chunks("5\nhello\n0\n\n")
        case .forgedTrailers:
            .chunks("5\r\nhello\r\n0\r\nContent-Type: text/forged\r\nContent-Encoding: gzip\r\nLocation: /echo\r\nHTTP/1.1 500 No\r\n\r\n")
        default: transfer
        }
    }

    /// The chunks are right, and the headers doubtful.
    private var transfer: EvilScript? {
        switch self {
        // A front and a back that read these differently can be played against each other.
        case .chunkedAndLength: Self.transfer("Transfer-Encoding: chunked", "Content-Length: 3")
        case .chunkedTwice: Self.transfer("Transfer-Encoding: chunked, chunked")
        case .chunkedInTwoHeaders: Self.transfer("Transfer-Encoding: chunked", "Transfer-Encoding: chunked")
        case .chunkedInHTTP10: Self.transfer(statusLine: "HTTP/1.0 200 OK", "Transfer-Encoding: chunked")
        case .chunkedNotLast: Self.transfer("Transfer-Encoding: chunked, identity")
        case .chunkedWithControl: Self.transfer("Transfer-Encoding: \u{b}chunked")
        case .xChunked: Self.transfer("Transfer-Encoding: xchunked")
        case .unknownThenChunked: Self.transfer("Transfer-Encoding: cabbage, chunked")
        case .unknownTransfer: .head("HTTP/1.1 200 OK", "Transfer-Encoding: cabbage") + [.send("hello"), .close]
        case .identityTransfer: .head("HTTP/1.1 200 OK", "Transfer-Encoding: identity") + [.send("hello"), .close]
        default: nil
        }
    }

    private static func transfer(statusLine: String = "HTTP/1.1 200 OK", _ headers: String...) -> EvilScript {
        .head(statusLine, headers) + [.send("5\r\nhello\r\n0\r\n\r\n"), .close]
    }
}
