import Testing

@testable import GannetPictures

@Suite struct AVIFTests {
    @Test func `a brand that other codecs share needs pictures in AV1`() throws {
        let sample = try Sample.named("lossy.avif")
        let bytes = sample.bytes.exchanging("avif", for: "mif1")
        #expect(probed(bytes) == .image(.avif, 23, 17))
        #expect(probed(bytes.exchanging("av1C", for: "hvcC")) == .failure(.notAnImage(.otherImage)))
        #expect(probed(sample.bytes.exchanging("av1C", for: "hvcC")).isMalformed)
        #expect(probed(bytes.exchanging("mif1", for: "heic")) == .failure(.notAnImage(.otherImage)))
        #expect(probed(bytes.exchanging("mif1", for: "isom")) == .failure(.notAnImage(.media)))
    }

    @Test(arguments: ["pitm", "iloc", "iprp", "ipco", "ipma", "ispe", "meta"])
    func `a still picture needs its description`(box: String) throws {
        let result = probed(try Sample.named("lossy.avif").bytes.exchanging(box, for: "free"))
        #expect(box == "meta" ? result.isTruncated : result.isMalformed)
    }

    @Test(arguments: ["trak", "mdia", "minf", "stbl", "stsd", "stsz", "stsc", "stco", "moov"])
    func `an animation needs its tracks`(box: String) throws {
        let sample = try Sample.named("animated.avif")
        // Without the still picture's description, which of itself would do.
        let bytes = sample.bytes.exchanging("avif", for: "free").exchanging(box, for: "skip")
        let result = probed(bytes)
        #expect(box == "moov" ? result.isTruncated : result.isMalformed)
    }

    @Test func `an animation that is a still picture as well needs both descriptions`() throws {
        let sample = try Sample.named("animated.avif").bytes
        #expect(probed(sample.exchanging("pitm", for: "free")).isMalformed)
        #expect(probed(sample.exchanging("stsz", for: "free")).isMalformed)
    }

    @Test func `every frame of an animation is in a chunk`() throws {
        let sample = try Sample.named("animated.avif").bytes
        // Behind version, flags, the number of entries and the first one's first chunk.
        let perChunk = try #require(sample.firstRange(of: Array("stsc".utf8))).upperBound + 12
        #expect(probed(sample.with(.big(0, 4), at: perChunk)).isMalformed)
        #expect(probed(sample.with(.big(0xffff_ffff, 4), at: perChunk)) == .image(.avif, 23, 17))
    }

    @Test func `an animation without a still picture has the size of its track`() throws {
        let bytes = try Sample.named("animated.avif").bytes.exchanging("avif", for: "free").exchanging("meta", for: "free")
        #expect(probed(bytes) == .image(.avif, 23, 17))
        for count in 0..<bytes.count { #expect(!(probed(Array(bytes[..<count])) == .image(.avif, 23, 17))) }
        #expect(probed(bytes.exchanging("av01", for: "hvc1")).isMalformed)
    }

    @Test func `the locations of items are held to their box and the file`() throws {
        let sample = try Sample.named("lossy.avif").bytes
        let location = try #require(sample.firstRange(of: Array("iloc".utf8))).upperBound
        // One item: its extent's offset and length are the last eight bytes of the box.
        let length = Int(sample[location - 5])
        let extent = location - 8 + length - 8
        #expect(probed(sample.with(.big(0xffff_ffff, 4), at: extent)).isTruncated)
        #expect(probed(sample.with(.big(0xffff_ffff, 4), at: extent + 4)).isTruncated)
        // More items than there is room for, sizes of three bytes, data in another file.
        #expect(probed(sample.with([0xff, 0xff], at: location + 6)).isMalformed)
        #expect(probed(sample.with([0x34], at: location + 4)).isMalformed)
        #expect(probed(sample.with([0, 1], at: location + 10)).isMalformed)
    }

    @Test func `a box is not longer than the one it is in`() throws {
        let sample = try Sample.named("lossy.avif").bytes
        for box in ["pitm", "iloc", "iprp", "ipco", "ispe"] {
            let length = try #require(sample.firstRange(of: Array(box.utf8))).lowerBound - 4
            #expect(probed(sample.with(.big(0x7fff_ffff, 4), at: length)).isMalformed)
            #expect(probed(sample.with(.big(7, 4), at: length)).isMalformed)
        }
    }

    @Test(
        arguments: [
            ([(0, 10)], true), ([(0, 10), (2, 3)], true), ([(3, 7)], true), ([(3, 8)], false), ([(0, 10), (11, 0)], false),
            ([(0, 0xffff_ffff)], false),
            ([(0xffff_ffff, 1)], false), ([], false),
        ] as [([(Int, Int)], Bool)])
    func `data beside the description of items is held to its box`(pieces: [(offset: Int, length: Int)], isRight: Bool) {
        let data = AVIF.box("idat", Array(repeating: 1, count: 10))
        let list = AVIF.locations([AVIF.item(method: 1, pieces: pieces)])
        let bytes = AVIF.type + AVIF.full("meta", AVIF.primary, list, AVIF.properties, data)
        #expect(isRight ? probed(bytes) == .image(.avif, 5, 4) : probed(bytes).isMalformed)
        #expect(probed(AVIF.type + AVIF.full("meta", AVIF.primary, list, AVIF.properties)).isMalformed)
    }

    @Test func `items are described in several ways`() {
        let data = AVIF.box("idat", [1])
        let wide = [(1, 4), (1, 2), (0, 2), (1, 2), (7, 4), (0, 8), (1, 8)].flatMap { [UInt8].big($0, $1) }
        let list = AVIF.locations(version: 2, sizes: [0x88, 0x04], [wide])
        let primary = AVIF.full("pitm", version: 1, .big(1, 4))
        let others: [UInt8] = .big(2, 4) + [3, 1, 1, 1]
        let association = AVIF.full("ipma", version: 1, .big(2, 4), others, .big(1, 4), [1, 3])
        let sizes = AVIF.box("ipco", AVIF.full("ispe", .big(9, 4), .big(9, 4)), AVIF.codec, AVIF.size)
        let meta = AVIF.full("meta", primary, list, AVIF.box("iprp", sizes, association), data)
        #expect(probed(AVIF.type + meta) == .image(.avif, 5, 4))
        let numbered = AVIF.full("ipma", version: 1, flags: 1, .big(1, 4), .big(1, 4), [2, 0x80, 3, 0, 2])
        #expect(probed(AVIF.type + AVIF.full("meta", primary, list, AVIF.box("iprp", sizes, numbered), data)) == .image(.avif, 5, 4))
        #expect(probed(AVIF.type + AVIF.full("meta", primary, list, AVIF.box("iprp", sizes), data)).isMalformed)
    }

    @Test func `a box may have a length of eight bytes, or go on to the end`() throws {
        let sample = try Sample.named("lossy.avif").bytes
        let data = try #require(sample.firstRange(of: Array("mdat".utf8))).lowerBound - 4
        #expect(probed(sample.with(.big(0, 4), at: data)) == .image(.avif, 23, 17))
        let end = Int(sample[3])
        let wide = Array(sample[..<end]) + .big(1, 4) + Array("free".utf8) + .big(16, 8) + Array(sample[end...])
        // The picture's data has moved by 16 bytes.
        let location = try #require(wide.firstRange(of: Array("iloc".utf8))).upperBound
        let extent = location - 8 + Int(wide[location - 5]) - 8
        let offset = wide[extent..<extent + 4].reduce(0) { $0 << 8 | Int($1) }
        #expect(probed(wide.with(.big(offset + 16, 4), at: extent)) == .image(.avif, 23, 17))
        #expect(probed(wide.with(.big(1 << 63, 8), at: end + 8)).isTruncated)
        #expect(probed(wide.with(.big(15, 8), at: end + 8)).isMalformed)
    }
}
