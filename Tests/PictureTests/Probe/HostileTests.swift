import Testing

@testable import GannetPictures

/// Inputs that would keep a probe busy for hours whose work were not linear in their length.
@Suite struct HostileTests {
    private let length = 300_000

    private func filled(_ start: [UInt8], with unit: [UInt8], end: [UInt8] = []) -> [UInt8] {
        start + Array(repeating: unit, count: (length - start.count) / unit.count).joined() + end
    }

    @Test(.timeLimit(.minutes(3)))
    func `a chain of directories that lie upon one another ends`() {
        // 12,000 entries, each 12 bytes behind the one before. The end of an entry's value is the next directory's count, and the chain of an earlier
        // directory goes on at a tag and a type.
        let count = 12_000
        var bytes = Array("II".utf8) + [42, 0] + [UInt8].little(8, 4) + .little(count, 2)
        for index in 0..<(length / 12) {
            let field = [(256, 5), (257, 4), (273, 8), (279, 4)].dropFirst(index).first
            if index < count, let field {
                bytes += [UInt8].little(field.0, 2) + [3, 0, 1, 0, 0, 0] + .little(field.1, 2)
            } else {
                bytes += [UInt8].little(index < count ? 0 : 8 + 12 * (index - count + 1), 4) + .little(0, 6)
            }
            bytes += .little(count, 2)
        }
        #expect(probed(bytes) == .failure(.malformed(.tiff, "its directories lie upon one another")))
        // All at the same place, named by one field.
        let entry = [UInt8].little(330, 2) + .little(4, 2) + .little((length - 100) / 4, 4) + .little(50, 4)
        let children = Array("II".utf8) + [42, 0] + [UInt8].little(8, 4) + .little(1, 2) + entry + .little(0, 4)
        #expect(probed(filled(children + Array(repeating: 0, count: 50 - children.count), with: .little(8, 4))).isMalformed)
    }

    @Test(.timeLimit(.minutes(3)))
    func `an icon of pictures that are all the same ends`() {
        let picture = PNG.file([PNG.header(width: 3, height: 3), PNG.chunk("IDAT", Array(repeating: 1, count: length))])
        let count = 65_535
        let entry = [3, 3, 0, 0, 1, 0, 32, 0] + [UInt8].little(picture.count, 4) + .little(6 + 16 * count, 4)
        #expect(probed([0, 0, 1, 0] + .little(count, 2) + Array(repeating: entry, count: count).joined() + picture) == .image(.ico, 3, 3))
    }

    @Test(.timeLimit(.minutes(3)))
    func `items without end in a description end`() {
        // Each with 65,535 pieces whose description takes no room.
        let item: [UInt8] = [0, 1, 0, 0, 0, 0, 0xff, 0xff]
        let list = AVIF.locations(version: 1, sizes: [0, 0], Array(repeating: item, count: 65_535))
        let bytes = AVIF.type + AVIF.full("meta", AVIF.primary, AVIF.properties, list)
        #expect(probed(bytes) == .image(.avif, 5, 4))
    }

    @Test(
        .timeLimit(.minutes(3)),
        arguments: [
            ([0xff, 0xd8], [0xff]), ([0xff, 0xd8], [0xff, 0]), ([0xff, 0xd8, 0xff], [0xe0, 0, 2, 0xff]),
            (Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0], [0]),
            (Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0], [0x21, 0, 0]), (Array("<svg>".utf8), Array("<".utf8)),
            (Array("<svg>".utf8), Array("<a>".utf8)),
            (Array("<svg ".utf8), Array("a='' ".utf8)), (Array("<svg>".utf8), Array("<!--".utf8)), ([], Array("<!---->".utf8)),
            ([], Array("<?x?>".utf8)),
            (Array("<!DOCTYPE svg [".utf8), Array("<!--->".utf8)), (Array("<".utf8), Array("a".utf8)), ([0xff, 0xfe], [0x20, 0]),
            ([], [0x20]),
            ([0, 0, 0, 16] + Array("ftypavif".utf8) + [0, 0, 0, 0], [0, 0, 0, 8] + Array("free".utf8)),
            (
                [0, 0, 0, 16] + Array("ftypavif".utf8) + [0, 0, 0, 0] + .big(290_000, 4) + Array("meta".utf8),
                [0, 0, 0, 8] + Array("iprp".utf8)
            ),
            (
                Array("RIFF".utf8) + .little(299_000, 4) + Array("WEBPVP8X".utf8) + [10, 0, 0, 0] + Array(repeating: 0, count: 10),
                Array("ABCD".utf8) + [0, 0, 0, 0]
            ),
            ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + PNG.header(width: 1, height: 1), PNG.chunk("tEXt", [])),
        ] as [([UInt8], [UInt8])])
    func `a thing repeated without end ends`(start: [UInt8], unit: [UInt8]) {
        let result = probed(filled(start, with: unit))
        #expect(result.isTruncated || result.isMalformed || result.isNoImage)
    }
}
