import Testing

@testable import GannetPictures

@Suite struct ICOTests {
    /// Pictures with the sides that the directory says of them.
    private func file(kind: UInt8 = 1, _ pictures: [(side: UInt8, bytes: [UInt8])]) -> [UInt8] {
        var directory: [UInt8] = [0, 0, kind, 0] + .little(pictures.count, 2)
        var offset = 6 + 16 * pictures.count
        for picture in pictures {
            directory += [picture.side, picture.side, 0, 0, 1, 0, 32, 0] + .little(picture.bytes.count, 4) + .little(offset, 4)
            offset += picture.bytes.count
        }
        return directory + pictures.flatMap(\.bytes)
    }

    private func bitmap(_ side: Int) -> [UInt8] {
        let header: [UInt8] = .little(40, 4) + .little(side, 4) + .little(2 * side, 4) + [1, 0, 32, 0]
        return header + Array(repeating: 0, count: 24 + side * side * 4)
    }

    private func png(_ side: Int) -> [UInt8] {
        PNG.file([PNG.header(width: side, height: side), PNG.chunk("IDAT", [1]), PNG.chunk("IEND", [])])
    }

    @Test func `the largest picture counts, wherever it stands`() {
        #expect(probed(file([(4, bitmap(4)), (8, bitmap(8)), (2, bitmap(2))])) == .image(.ico, 8, 8))
        #expect(probed(file(kind: 2, [(4, png(4)), (8, bitmap(8)), (16, png(16))])) == .image(.ico, 16, 16))
    }

    @Test func `zero in the directory is 256, and more if the picture says so`() {
        #expect(probed(file([(4, bitmap(4)), (0, png(256))])) == .image(.ico, 256, 256))
        #expect(probed(file([(0, bitmap(256))])) == .image(.ico, 256, 256))
        #expect(probed(file([(0, png(1024)), (4, bitmap(4))])) == .image(.ico, 1024, 1024))
        #expect(probed(file([(0, png(20_000))])).isTooLarge)
        #expect(probed(file([(1, bitmap(1).with([0, 0, 1, 0], at: 4).with([0, 0, 1, 0], at: 8))])).isTooLarge)
    }

    @Test func `a picture lies in the file and has a header`() {
        let icon = file([(4, bitmap(4)), (2, bitmap(2))])
        #expect(probed(icon.with(.little(0xffff_ffff, 4), at: 14)).isTruncated)
        #expect(probed(icon.with(.little(0xffff_ffff, 4), at: 18)).isTruncated)
        #expect(probed(icon.with(.little(37, 4), at: 18)).isMalformed)
        #expect(probed(icon.with(.little(39, 4), at: 14)).isMalformed)
        #expect(probed(icon.with(.little(41, 4), at: 38)).isMalformed)
    }
}
