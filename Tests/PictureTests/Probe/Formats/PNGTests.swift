import Testing

@testable import GannetPictures

@Suite struct PNGTests {
    /// A header, some data and the end.
    private let chunks = [PNG.header(width: 3, height: 2), PNG.chunk("IDAT", [1, 2, 3]), PNG.chunk("IEND", [])]

    @Test func `header, data and end make a PNG`() {
        #expect(probed(PNG.file(chunks)) == .image(.png, 3, 2))
        #expect(probed(PNG.file([chunks[0], PNG.chunk("eXIf", []), chunks[1], PNG.chunk("tEXt", [1]), chunks[2]])) == .image(.png, 3, 2))
    }

    @Test(arguments: 12..<33)
    func `a header that was changed in any byte is malformed`(offset: Int) {
        var bytes = PNG.file(chunks)
        bytes[offset] ^= 0x10
        #expect(probed(bytes).isMalformed)
    }

    @Test(arguments: [
        (0, 1, 8, 2, 0), (1, 0, 8, 2, 0), (1 << 31, 1, 8, 2, 0), (1, 1 << 31, 8, 2, 0), (1, 1, 4, 2, 0), (1, 1, 16, 3, 0), (1, 1, 8, 5, 0),
        (1, 1, 3, 0, 0), (1, 1, 8, 2, 2),
    ])
    func `a header with a right checksum and wrong values is malformed`(width: Int, height: Int, depth: Int, color: Int, interlace: Int) {
        let header = PNG.header(width: width, height: height, depth: depth, color: color, interlace: interlace)
        #expect(probed(PNG.file([header, chunks[1], chunks[2]])).isMalformed)
    }

    @Test func `a PNG without data, with two headers or without its palette is malformed`() {
        #expect(probed(PNG.file([chunks[0], chunks[2]])).isMalformed)
        #expect(probed(PNG.file([chunks[0], PNG.chunk("IDAT", []), chunks[2]])).isMalformed)
        #expect(probed(PNG.file([chunks[0], chunks[0], chunks[1], chunks[2]])).isMalformed)
        #expect(probed(PNG.file([chunks[1], chunks[2]])).isMalformed)
        let palette = PNG.header(width: 3, height: 2, color: 3)
        #expect(probed(PNG.file([palette, chunks[1], chunks[2]])).isMalformed)
        #expect(probed(PNG.file([palette, PNG.chunk("PLTE", [1, 2, 3]), chunks[1], chunks[2]])) == .image(.png, 3, 2))
    }

    @Test func `a chunk's length is not trusted`() {
        let start = PNG.file([chunks[0]])
        #expect(probed(start + .big(0x7fff_ffff, 4) + Array("IDAT".utf8) + [1]).isTruncated)
        #expect(probed(start + .big(0xffff_ffff, 4) + Array("IDAT".utf8) + [1]).isMalformed)
        #expect(probed(start + .big(0, 4) + [0x49, 0x00, 0x41, 0x54] + [1, 2, 3, 4]).isMalformed)
    }

    @Test(arguments: [
        (3, 2, 0, 0, true), (4, 2, 0, 0, false), (3, 2, 1, 0, false), (1, 1, 2, 1, true), (0, 1, 0, 0, false),
        (1, 1, 0xffff_ffff, 0, false),
    ])
    func `a frame of an animation lies on its canvas`(width: Int, height: Int, x: Int, y: Int, isRight: Bool) {
        let frame = [UInt8].big(0, 4) + .big(width, 4) + .big(height, 4) + .big(x, 4) + .big(y, 4) + .big(0, 6)
        let result = probed(PNG.file([chunks[0], PNG.chunk("fcTL", frame), chunks[1], chunks[2]]))
        #expect(isRight ? result == .image(.png, 3, 2) : result.isMalformed)
    }
}

/// Parts of a PNG.
enum PNG {
    static func file(_ chunks: [[UInt8]]) -> [UInt8] { [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + chunks.joined() }

    static func header(width: Int, height: Int, depth: Int = 8, color: Int = 2, interlace: Int = 0) -> [UInt8] {
        chunk("IHDR", .big(width, 4) + .big(height, 4) + [UInt8(depth), UInt8(color), 0, 0, UInt8(interlace)])
    }

    static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + data
        return .big(data.count, 4) + body + .big(checksum(body), 4)
    }

    /// As the specification's appendix defines it, by division of polynomials.
    private static func checksum(_ bytes: [UInt8]) -> Int {
        var register = 0xffff_ffff
        for bit in bytes.flatMap({ byte in (0..<8).map { Int(byte) >> $0 & 1 } }) {
            let isOdd = register & 1 != bit
            register = register >> 1 ^ (isOdd ? 0xedb8_8320 : 0)
        }
        return register ^ 0xffff_ffff
    }
}
