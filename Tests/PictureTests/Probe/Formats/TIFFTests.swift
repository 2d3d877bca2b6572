import Testing

@testable import GannetPictures

@Suite struct TIFFTests {
    /// A field of 32-bit numbers, of which one stands in the entry.
    private func field(_ tag: Int, _ value: Int, count: Int = 1, type: Int = 4) -> [UInt8] {
        .little(tag, 2) + .little(type, 2) + .little(count, 4) + .little(value, 4)
    }

    private func directory(_ fields: [[UInt8]], next: Int = 0) -> [UInt8] { .little(fields.count, 2) + fields.joined() + .little(next, 4) }

    private func file(first: Int = 8, _ rest: [UInt8]) -> [UInt8] { Array("II".utf8) + [42, 0] + .little(first, 4) + rest }

    private var size: [[UInt8]] { [field(256, 5), field(257, 4)] }

    @Test func `one directory with a strip makes a TIFF`() {
        #expect(probed(file(directory(size + [field(273, 8), field(279, 4)]))) == .image(.tiff, 5, 4))
        #expect(probed(file(directory(size + [field(324, 8), field(325, 4)]))) == .image(.tiff, 5, 4))
        #expect(probed(file(directory(size + [field(513, 8), field(514, 4)]))) == .image(.tiff, 5, 4))
        // A strip that was left out has no length.
        #expect(probed(file(directory(size + [field(273, 0xffff_ffff), field(279, 0)]))) == .image(.tiff, 5, 4))
    }

    @Test func `a directory that lacks something is malformed`() {
        let strip = [field(273, 8), field(279, 4)]
        #expect(probed(file(directory([field(256, 5)] + strip))).isMalformed)
        #expect(probed(file(directory([field(256, 0), field(257, 4)] + strip))).isMalformed)
        #expect(probed(file(directory([field(256, 5, type: 5), field(257, 4)] + strip))).isMalformed)
        #expect(probed(file(directory([field(256, 5, type: 11), field(257, 4)] + strip))).isMalformed)
        #expect(probed(file(directory([field(256, 5, count: 0), field(257, 4)] + strip))).isMalformed)
        #expect(probed(file(directory(size))).isMalformed)
        #expect(probed(file(directory(size + [field(273, 8)]))).isMalformed)
        #expect(probed(file(directory(size + [field(273, 8), field(279, 0, count: 0)]))).isMalformed)
        #expect(
            probed(file(directory(size + [field(273, 8, count: 0xffff_ffff, type: 99), field(279, 4, count: 0xffff_ffff, type: 99)])))
                .isMalformed)
        #expect(probed(file(first: 0, [])).isMalformed)
    }

    @Test func `a strip lies in the file`() {
        #expect(probed(file(directory(size + [field(273, 8), field(279, 0xffff_ffff)]))).isTruncated)
        #expect(probed(file(directory(size + [field(273, 0xffff_ffff), field(279, 1)]))).isTruncated)
        #expect(probed(file(directory(size + [field(273, 8, count: 0x4000_0000), field(279, 8, count: 0x4000_0000)]))).isTruncated)
    }

    @Test func `directories that form a loop are malformed`() {
        let fields = size + [field(273, 8), field(279, 4)]
        #expect(probed(file(directory(fields, next: 8))).isMalformed)
        let length = directory(fields).count
        #expect(probed(file(directory(fields, next: 8 + length) + directory(fields, next: 8))).isMalformed)
        #expect(probed(file(directory(fields, next: 8 + length) + directory(fields))) == .image(.tiff, 5, 4))
        #expect(probed(file(directory(fields + [field(330, 8)]))).isMalformed)
        #expect(probed(file(directory(fields + [field(330, 0)]))) == .image(.tiff, 5, 4))
    }

    @Test func `there are no more than 65,536 directories`() {
        let first = directory(size + [field(273, 8), field(279, 4)], next: 8 + 54)
        for (count, isRight) in [(65_535, true), (65_536, false)] {
            let chain = (1...count).flatMap { directory([field(1, 0)], next: $0 == count ? 0 : 8 + 54 + 18 * $0) }
            #expect(
                probed(file(first + chain))
                    == (isRight ? .image(.tiff, 5, 4) : .failure(.malformed(.tiff, "it has more than 65536 directories"))))
        }
    }

    @Test(arguments: [330, 34_665, 34_853, 40_965])
    func `a directory below another is part of the file`(tag: Int) {
        let fields = size + [field(273, 8), field(279, 4)]
        let end = 8 + directory(fields).count + 12
        #expect(probed(file(directory(fields + [field(tag, end)]))).isTruncated)
        #expect(probed(file(directory(fields + [field(tag, end)]) + directory([field(1, 0xffff, count: 9)]))).isTruncated)
        #expect(
            probed(file(directory(fields + [field(tag, end)]) + directory([field(1, 0xffff, count: 9, type: 99)]))) == .image(.tiff, 5, 4))
    }

    @Test func `a big TIFF says that its offsets are of eight bytes`() throws {
        let sample = try Sample.named("big-tiff-tiles.tiff").bytes
        #expect(probed(sample.with([4], at: 4)).isMalformed)
        #expect(probed(sample.with([1], at: 6)).isMalformed)
        #expect(probed(sample.with(.little(-1, 8), at: 8)).isTruncated)
        let first = Int(sample[8])
        #expect(probed(sample.with(.little(-1, 8), at: first)).isTruncated)
    }
}
