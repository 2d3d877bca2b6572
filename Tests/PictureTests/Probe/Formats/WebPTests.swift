import Testing

@testable import GannetPictures

@Suite struct WebPTests {
    private func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        Array(name.utf8) + .little(data.count, 4) + data + (data.count.isMultiple(of: 2) ? [] : [0])
    }

    private func file(_ chunks: [UInt8]...) -> [UInt8] {
        let body = Array("WEBP".utf8) + chunks.joined()
        return Array("RIFF".utf8) + .little(body.count, 4) + body
    }

    private func lossless(_ width: Int = 5, _ height: Int = 4, version: Int = 0) -> [UInt8] {
        chunk("VP8L", [0x2f] + .little((width - 1) | (height - 1) << 14 | version << 29, 4) + [0, 0])
    }

    private func lossy(_ width: Int = 5, _ height: Int = 4, tag: Int = 0x10, start: [UInt8] = [0x9d, 1, 0x2a]) -> [UInt8] {
        chunk("VP8 ", .little(tag, 3) + start + .little(width, 2) + .little(height, 2) + [0, 0])
    }

    private func extended(_ width: Int = 5, _ height: Int = 4, flags: UInt8 = 0) -> [UInt8] {
        chunk("VP8X", [flags, 0, 0, 0] + .little(width - 1, 3) + .little(height - 1, 3))
    }

    private func frame(x: Int = 0, y: Int = 0, _ width: Int, _ height: Int, _ picture: [UInt8]) -> [UInt8] {
        chunk("ANMF", .little(x / 2, 3) + .little(y / 2, 3) + .little(width - 1, 3) + .little(height - 1, 3) + [0, 0, 0, 0] + picture)
    }

    @Test func `a picture alone tells its size`() {
        #expect(probed(file(lossless())) == .image(.webp, 5, 4))
        #expect(probed(file(lossy())) == .image(.webp, 5, 4))
        #expect(probed(file(lossless(16_384, 1))) == .image(.webp, 16_384, 1))
        // The two bits above ask for scaling.
        #expect(probed(file(lossy(5 | 0xc000, 4 | 0x4000))) == .image(.webp, 5, 4))
    }

    @Test func `a damaged picture is malformed`() {
        #expect(probed(file(lossless(version: 1))).isMalformed)
        #expect(probed(file(lossy(0, 4))).isMalformed)
        #expect(probed(file(lossy(tag: 0x11))).isMalformed)
        #expect(probed(file(lossy(tag: 0x10000))).isMalformed)
        #expect(probed(file(lossy(start: [0x9d, 1, 0x2b]))).isMalformed)
        #expect(probed(file(chunk("VP8 ", [1, 2, 3, 4]))).isMalformed)
        #expect(probed(file(chunk("VP8L", [0x2f, 0, 0]))).isMalformed)
        #expect(probed(file(chunk("ALPH", [0, 0]), lossy())).isMalformed)
        #expect(probed(file(Array("VP8 ".utf8) + .little(1000, 4) + [0, 0])).isMalformed)
    }

    @Test func `a canvas needs the picture it is for`() {
        let other = chunk("EXIF", [1, 2, 3])
        #expect(probed(file(extended(), other, lossless(), other)) == .image(.webp, 5, 4))
        #expect(probed(file(extended(), chunk("ALPH", [0]), lossy())) == .image(.webp, 5, 4))
        #expect(probed(file(extended(), other)).isMalformed)
        #expect(probed(file(extended(6, 4), lossless())).isMalformed)
        #expect(probed(file(chunk("VP8X", [0, 0, 0]), lossless())).isMalformed)
    }

    @Test func `frames of an animation lie on its canvas`() {
        let canvas = extended(flags: 2)
        let small = frame(x: 2, y: 2, 3, 2, lossless(3, 2))
        #expect(probed(file(canvas, small, small)) == .image(.webp, 5, 4))
        #expect(probed(file(canvas, frame(5, 4, chunk("ALPH", [0]) + lossy()))) == .image(.webp, 5, 4))
        #expect(probed(file(canvas)).isMalformed)
        // Of a still picture a frame is none.
        #expect(probed(file(extended(), small)).isMalformed)
        #expect(probed(file(canvas, frame(x: 4, 3, 2, lossless(3, 2)))).isMalformed)
        #expect(probed(file(canvas, frame(3, 2, lossless(2, 2)))).isMalformed)
        #expect(probed(file(canvas, frame(3, 2, chunk("XMP ", [])))).isMalformed)
    }
}
