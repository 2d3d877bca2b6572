import Testing

@testable import GannetPictures

@Suite struct GIFTests {
    private func header(_ width: Int = 5, _ height: Int = 4) -> [UInt8] {
        Array("GIF89a".utf8) + .little(width, 2) + .little(height, 2) + [0, 0, 0]
    }

    private func frame(x: Int = 0, y: Int = 0, _ width: Int = 5, _ height: Int = 4, codeSize: UInt8 = 2) -> [UInt8] {
        [0x2c] + .little(x, 2) + .little(y, 2) + .little(width, 2) + .little(height, 2) + [0, codeSize, 2, 0x3b, 0x2c, 1, 0x21, 0]
    }

    private let comment: [UInt8] = [0x21, 0xfe, 3, 0x3b, 0x3b, 0x3b, 0]

    @Test func `frames and extensions are walked up to the trailer`() {
        let blocks = header() + comment + frame() + comment + frame(1, 1) + [0, 0] + comment
        #expect(probed(blocks).isTruncated)
        #expect(probed(blocks + [0x3b]) == .image(.gif, 5, 4))
    }

    @Test func `a canvas without a size has that of its first frame`() {
        #expect(probed(header(0, 0) + frame(x: 2, y: 1) + frame(9, 9) + [0x3b]) == .image(.gif, 7, 5))
        #expect(probed(header(0, 3) + frame() + [0x3b]) == .image(.gif, 5, 3))
        #expect(probed(header(0, 0) + frame(0, 0) + [0x3b]).isMalformed)
    }

    @Test func `a canvas counts, also when a frame is larger`() {
        #expect(probed(header(2, 2) + frame(100, 100) + [0x3b]) == .image(.gif, 2, 2))
    }

    @Test func `an unknown block, or a file without a frame, is malformed`() {
        #expect(probed(header() + [0x3b]).isMalformed)
        #expect(probed(header() + comment + [0x3b]).isMalformed)
        #expect(probed(header() + frame() + [0x99, 0x3b]).isMalformed)
        #expect(probed(header() + frame(codeSize: 0) + [0x3b]).isMalformed)
        #expect(probed(header() + frame(codeSize: 12) + [0x3b]).isMalformed)
        #expect(probed(Array("GIF88a".utf8) + header().dropFirst(6) + frame() + [0x3b]).isNoImage)
    }
}
