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

extension EvilBehaviour {
    /// The body is "hello", packed, wherever it is one.
    var encoding: EvilScript? {
        let hello = Array("hello".utf8)
        let packed = PackedBytes.gzip(hello)
        return switch self {
        case .gzip: Self.encoded("gzip", packed)
        case .brotli: Self.encoded("br", PackedBytes.brotliHello)
        case .zstd: Self.encoded("zstd", PackedBytes.zstd(hello))
        case .zlibDeflate: Self.encoded("deflate", PackedBytes.zlib(hello))
        // Not what the name means, and yet what some servers take it for.
        case .rawDeflate: Self.encoded("deflate", PackedBytes.stored(hello))
        case .shoutedGzip: Self.encoded("X-GZIP", packed)
        case .gzipBomb: Self.encoded("gzip", PackedBytes.gzipBomb)
        case .brotliBomb: Self.encoded("br", PackedBytes.brotliBomb)
        case .zstdBomb: Self.encoded("zstd", PackedBytes.zstdBomb)
        // Bytes without end of which nothing comes out: empty blocks, a file's name in the header, members, frames to be skipped.
        case .gzipOfNothing:
            .head("HTTP/1.1 200 OK", "Content-Encoding: gzip") + [.send(PackedBytes.gzipHeader)]
                + .flood(PackedBytes.stored([], isLast: false))
        case .gzipEndlessName:
            .head("HTTP/1.1 200 OK", "Content-Encoding: gzip") + [.send([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 0xff])] + .flood("x")
        case .gzipEndlessMembers:
            .head("HTTP/1.1 200 OK", "Content-Encoding: gzip") + .flood(PackedBytes.gzip([]))
        case .zstdEndlessSkipping:
            .head("HTTP/1.1 200 OK", "Content-Encoding: zstd") + .flood([0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 0])
        // Frames that ask for 128 MiB, and for 2 TiB, to unpack five bytes; 8 MiB are all a client has to offer (RFC 9659).
        case .zstdWideWindow: Self.encoded("zstd", PackedBytes.zstd(hello, window: 0x88))
        case .zstdHugeWindow: Self.encoded("zstd", PackedBytes.zstd(hello, window: 0xf8))
        case .gzipWrongSum: Self.encoded("gzip", PackedBytes.gzip(hello, sum: 1))
        case .gzipWrongSize: Self.encoded("gzip", PackedBytes.gzip(hello, size: 6))
        // In the middle of its data, though the message is as long as it says.
        case .gzipCut: Self.encoded("gzip", Array(packed.prefix(17)))
        case .gzipThenGarbage: Self.encoded("gzip", packed + Array("garbage".utf8))
        case .gzipTwoMembers: Self.encoded("gzip", PackedBytes.gzip(Array("hel".utf8)) + PackedBytes.gzip(Array("lo".utf8)))
        case .gzipUnpacked: Self.encoded("gzip", hello)
        case .gzipEmpty: Self.encoded("gzip", [])
        case .doubleGzip: Self.encoded("gzip, gzip", PackedBytes.gzip(packed))
        case .secretlyDoubleGzip: Self.encoded("gzip", PackedBytes.gzip(packed))
        case .thousandEncodings: Self.encoded(Array(repeating: "gzip", count: 1000).joined(separator: ", "), packed)
        case .deflateGarbage: Self.encoded("deflate", EvilScript.garbage)
        case .brotliGarbage: Self.encoded("br", EvilScript.garbage)
        case .zstdGarbage: Self.encoded("zstd", EvilScript.garbage)
        case .unknownEncoding: Self.encoded("cabbage", hello)
        case .gzipTransfer: .head("HTTP/1.1 200 OK", "Transfer-Encoding: gzip") + [.send(packed), .close]
        default: nil
        }
    }

    private static func encoded(_ encoding: String, _ body: [UInt8]) -> EvilScript {
        .answer("200 OK", ["Content-Encoding: \(encoding)"], body: body)
    }
}

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
