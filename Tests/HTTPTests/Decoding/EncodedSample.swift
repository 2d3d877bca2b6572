import GannetTestKit
import Testing

@testable import GannetHTTP

/// A body in one encoding and what it holds.
struct EncodedSample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let encoding: String
    let body: [UInt8]
    let content: [UInt8]

    init(_ description: String, _ encoding: String, _ body: [UInt8], _ content: [UInt8]) {
        testDescription = description
        self.encoding = encoding
        self.body = body
        self.content = content
    }

    var coding: ContentCoding { ContentCoding(name: encoding)! }
}

extension EncodedSample {
    static let text = Array("The gannet dives for what it has seen from above. ".utf8) + Array(repeating: 0x61, count: 90)

    /// Samples whose end a checksum confirms.
    static let checked: [EncodedSample] = [
        EncodedSample("gzip", "gzip", Deflated.gzip(text), text),
        EncodedSample("gzip, stored", "gzip", Deflated.gzip(text, level: 0), text),
        EncodedSample("gzip of nothing", "x-gzip", Deflated.gzip([]), []),
        EncodedSample("two members", "gzip", Deflated.gzip(text) + Deflated.gzip([1, 2, 3]), text + [1, 2, 3]),
        EncodedSample("zlib", "deflate", Deflated.zlib(text), text),
        EncodedSample("zlib, stored", "deflate", Deflated.zlib(text, level: 0), text),
        EncodedSample("zlib with a small window", "deflate", Deflated.zlib(text, window: 9), text),
        EncodedSample("zlib of nothing", "deflate", Deflated.zlib([]), []),
        EncodedSample("zstd", "zstd", Zstandard.compressed(text), text),
        EncodedSample("zstd of unsaid size", "zstd", Zstandard.compressed(text, window: 23, saysSize: false), text),
        EncodedSample("two frames", "zstd", Zstandard.compressed(text) + Zstandard.compressed([1, 2, 3]), text + [1, 2, 3]),
    ]

    static let unchecked: [EncodedSample] = [
        EncodedSample("bare deflate", "deflate", Deflated.raw(text), text),
        EncodedSample("bare deflate, stored", "deflate", Deflated.raw(text, level: 0), text),
        EncodedSample("bare deflate of nothing", "deflate", Deflated.raw([]), []),
        EncodedSample("brotli", "br", Brotli.compressed(text), text),
        EncodedSample("brotli at its best", "br", Brotli.compressed(text, quality: 11, window: 24), text),
        EncodedSample("brotli of nothing", "br", Brotli.compressed([]), []),
        EncodedSample("zstd without checksum", "zstd", Zstandard.compressed(text, checksum: false), text),
        EncodedSample("zstd of nothing", "zstd", Zstandard.compressed([], checksum: false), []),
        EncodedSample(
            "frames to skip", "zstd", skipped([9, 9, 9]) + Zstandard.compressed(text, checksum: false) + skipped([]), text),
    ]

    static let all = checked + unchecked

    /// A frame of zstd that decoders skip.
    static func skipped(_ bytes: [UInt8]) -> [UInt8] {
        [0x5a, 0x2a, 0x4d, 0x18, UInt8(bytes.count), 0, 0, 0] + bytes
    }
}
