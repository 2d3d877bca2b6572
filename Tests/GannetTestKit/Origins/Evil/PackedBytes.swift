/// Bodies as compressors would make them, and as none would, put together by hand from what the formats allow: the kit needs no encoder.
enum PackedBytes {
    /// gzip (RFC 1952) whose deflate stream keeps everything as it is; its sum and size are right unless given.
    static func gzip(_ content: [UInt8], sum: UInt32? = nil, size: UInt32? = nil) -> [UInt8] {
        gzipHeader + stored(content) + littleEndian(sum ?? crc32(content)) + littleEndian(size ?? UInt32(content.count))
    }

    /// Deflate (RFC 1951) in stored blocks, the last of them marked.
    static func stored(_ content: [UInt8], isLast: Bool = true) -> [UInt8] {
        precondition(content.count < 65_536)
        let length = UInt16(content.count)
        return [isLast ? 1 : 0, UInt8(length & 0xff), UInt8(length >> 8), UInt8(~length & 0xff), UInt8(~length >> 8)] + content
    }

    static let gzipHeader: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]

    /// 1 GiB of zeros in 1 MB of gzip: one block of deflate, found with zlib, that stands for 1 MiB and ends at a byte, 1,024 times.
    static let gzipBomb: [UInt8] = {
        let start: [UInt8] = [0xec, 0xc1, 0x31, 0x01, 0, 0, 0, 0xc2, 0xa0, 0xf5, 0x4f, 0x6d, 0x08, 0x5f, 0xa0]
        let block = start + Array(repeating: 0, count: 1016) + [0x3e, 0x03, 0, 0, 0xff, 0xff]
        // Joined byte by byte, this takes longer than a client waits.
        var bomb = gzipHeader
        for _ in 0..<1024 { bomb += block }
        return bomb + [0x03, 0x00] + littleEndian(0x5b64_c2b0) + littleEndian(1 << 30)
    }()

    /// 1 GiB of zeros in 2 KB of brotli (RFC 7932): one meta-block of the reference encoder, again and again. It stands for 16 MiB and ends at a byte.
    static let brotliBomb: [UInt8] = {
        let first: [UInt8] = [
            0xcb, 0xff, 0xff, 0x3f, 0x00, 0x24, 0x00, 0xe2, 0xb1, 0x40, 0x72, 0xef, 0xff, 0xf8, 0xff, 0xff, 0x07, 0x80, 0x04, 0x40,
            0x1c, 0x16, 0x80, 0xee, 0xfd, 0x9f, 0x01,
        ]
        let next: [UInt8] = [
            0xfc, 0xff, 0xff, 0x03, 0x40, 0x02, 0x20, 0x0e, 0x0b, 0x40, 0xf7, 0xfe, 0x8f, 0xff, 0xff, 0x7f, 0x00, 0x48, 0x00, 0xc4,
            0x61, 0x01, 0xe8, 0xde, 0xff, 0x19,
        ]
        return first + repeated(next, 63) + [0x03]
    }()

    /// 1 GiB of zeros in 32 KB of zstd (RFC 8878): blocks of one byte that is to be repeated 131,072 times.
    static let zstdBomb: [UInt8] = {
        func block(isLast: Bool) -> [UInt8] { zstdBlock(131_072, isRepeated: true, isLast: isLast) + [0] }
        return zstdHeader(window: zstdMegabyte) + repeated(block(isLast: false), 8191) + block(isLast: true)
    }()

    /// A frame of zstd with one raw block.
    static func zstd(_ content: [UInt8], window: UInt8 = zstdMegabyte) -> [UInt8] {
        zstdHeader(window: window) + zstdBlock(content.count, isRepeated: false, isLast: true) + content
    }

    static let zstdMegabyte: UInt8 = 0x50

    /// Of a frame without size or sum. The upper five bits of the window are the binary logarithm of its KiB.
    private static func zstdHeader(window: UInt8) -> [UInt8] { [0x28, 0xb5, 0x2f, 0xfd, 0x00, window] }

    private static func zstdBlock(_ size: Int, isRepeated: Bool, isLast: Bool) -> [UInt8] {
        let word = UInt32(size) << 3 | (isRepeated ? 2 : 0) | (isLast ? 1 : 0)
        return Array(littleEndian(word).prefix(3))
    }

    /// "hello", from the reference encoder.
    static let brotliHello: [UInt8] = [0x0b, 0x02, 0x80, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x03]

    /// Deflate in the envelope of zlib (RFC 1950).
    static func zlib(_ content: [UInt8]) -> [UInt8] {
        [0x78, 0x01] + stored(content) + littleEndian(adler32(content)).reversed()
    }

    static func adler32(_ bytes: [UInt8]) -> UInt32 {
        let (low, high) = bytes.reduce((1, 0) as (UInt32, UInt32)) { sums, byte in
            let low = (sums.0 + UInt32(byte)) % 65_521
            return (low, (sums.1 + low) % 65_521)
        }
        return high << 16 | low
    }

    static func littleEndian(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> ($0 * 8) & 0xff) } }

    static func crc32(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum >> 1 ^ (sum & 1 == 1 ? 0xedb8_8320 : 0) }
        }
    }
}
