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
