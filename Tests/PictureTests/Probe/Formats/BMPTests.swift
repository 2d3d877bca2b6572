import Testing

@testable import GannetPictures

@Suite struct BMPTests {
    private func file(_ width: Int = 5, _ height: Int = 4, bits: Int, compression: Int = 0, start: Int = 54, _ pixels: [UInt8]) -> [UInt8] {
        let header: [UInt8] = .little(40, 4) + .little(width, 4) + .little(height, 4) + [1, 0] + .little(bits, 2) + .little(compression, 4)
        return [0x42, 0x4d] + .little(0, 8) + .little(start, 4) + header + .little(0, 20) + pixels
    }

    private func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }

    @Test(arguments: [(1, 4), (2, 4), (4, 4), (8, 8), (16, 12), (24, 16), (32, 20), (64, 40)])
    func `rows take a multiple of four bytes`(bits: Int, row: Int) {
        #expect(probed(file(bits: bits, zeros(4 * row))) == .image(.bmp, 5, 4))
        #expect(probed(file(5, -4, bits: bits, zeros(4 * row))) == .image(.bmp, 5, 4))
        #expect(probed(file(bits: bits, zeros(4 * row - 1))).isTruncated)
    }

    @Test func `runs are walked up to the end of the bitmap`() {
        let runs: [UInt8] = [5, 1, 0, 0, 0, 3, 0, 1, 0, 1, 0, 2, 0, 1, 2, 7, 0, 5, 0, 1, 0, 1, 0, 0]
        #expect(probed(file(bits: 8, compression: 1, runs)).isTruncated)
        #expect(probed(file(bits: 8, compression: 1, runs + [0, 1])) == .image(.bmp, 5, 4))
        // Three pixels are two bytes, five are three and a fill byte.
        let narrow: [UInt8] = [0, 3, 0, 1, 0, 5, 0, 1, 0, 1]
        #expect(probed(file(bits: 4, compression: 2, narrow)).isTruncated)
        #expect(probed(file(bits: 4, compression: 2, narrow + [0, 1])) == .image(.bmp, 5, 4))
    }

    @Test func `a header that makes no sense is malformed`() {
        #expect(probed(file(0, 4, bits: 24, zeros(64))).isMalformed)
        #expect(probed(file(-5, 4, bits: 24, zeros(64))).isMalformed || probed(file(-5, 4, bits: 24, zeros(64))).isTooLarge)
        #expect(probed(file(bits: 7, zeros(64))).isMalformed)
        #expect(probed(file(bits: 24, compression: 4, zeros(64))).isMalformed)
        #expect(probed(file(bits: 4, compression: 1, [0, 1])).isMalformed)
        #expect(probed(file(bits: 8, compression: 2, [0, 1])).isMalformed)
        #expect(probed(file(bits: 24, start: 53, zeros(64))).isMalformed)
        #expect(probed(file(bits: 24, start: 0xffff_ffff, zeros(64))).isTruncated)
    }

    @Test func `a color profile is part of the file`() throws {
        let sample = try Sample.named("profile.bmp").bytes
        #expect(probed(sample.with(.little(0xffff_ffff, 4), at: 14 + 112)).isTruncated)
        #expect(probed(sample.with(.little(0xffff_ffff, 4), at: 14 + 116)).isTruncated)
    }
}
