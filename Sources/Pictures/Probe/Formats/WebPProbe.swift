/// A WebP is a RIFF container: one chunk with a picture, or an extended header (VP8X) and what it announces.
extension ImageReader {
    mutating func webPSize() throws -> ImageSize {
        order = .little
        let length = try u32(at: 4)
        guard length >= 12 else { throw malformed("its container is too short for a picture") }
        part = "the end of its container"
        try require(length, at: 8)
        let end = 8 + length
        let first = try RIFFChunk(from: self, at: 12, end: end)
        return try first.name == "VP8X" ? canvas(in: first, end: end) : bitstream(first)
    }

    /// The size of a lossy or lossless picture.
    private func bitstream(_ chunk: RIFFChunk) throws -> ImageSize {
        switch chunk.name {
        case "VP8 ":
            guard chunk.length >= 10 else { throw malformed("its picture is too short") }
            let tag = try u24(at: chunk.start)
            guard tag & 1 == 0, try u24(at: chunk.start + 3) == 0x2a019d else {
                throw malformed("its picture is no key frame")
            }
            guard tag >> 5 <= chunk.length - 10 else { throw malformed("its picture is shorter than it says") }
            let (width, height) = (try u16(at: chunk.start + 6), try u16(at: chunk.start + 8))
            // The upper two bits ask for scaling, which is not done.
            return try size(width & 0x3fff, height & 0x3fff)
        case "VP8L":
            guard chunk.length >= 5 else { throw malformed("its picture is too short") }
            let bits = try u32(at: chunk.start + 1)
            guard try u8(at: chunk.start) == 0x2f, bits >> 29 == 0 else { throw malformed("its picture has no header") }
            return try size(bits & 0x3fff + 1, bits >> 14 & 0x3fff + 1)
        default: throw malformed("there is no picture where one has to be")
        }
    }

    /// The extended form: a canvas, and on it one picture or the frames of an animation.
    private func canvas(in header: RIFFChunk, end: Int) throws -> ImageSize {
        guard header.length >= 10 else { throw malformed("its header is too short") }
        let start = header.start
        let size = try self.size(try u24(at: start + 4) + 1, try u24(at: start + 7) + 1)
        let isAnimated = try u8(at: start) & 2 != 0
        var hasPicture = false
        var offset = header.next
        // Fewer bytes than a chunk's header are left over by some writers.
        while end - offset >= 8 {
            let chunk = try RIFFChunk(from: self, at: offset, end: end)
            if isAnimated, chunk.name == "ANMF" {
                try checkFrame(chunk, of: size)
                hasPicture = true
            } else if !isAnimated, chunk.name == "VP8 " || chunk.name == "VP8L" {
                guard try bitstream(chunk) == size else {
                    throw malformed("its picture and its canvas differ in size")
                }
                hasPicture = true
            }
            offset = chunk.next
        }
        guard hasPicture else { throw malformed("there is no picture where one has to be") }
        return size
    }

    private func checkFrame(_ frame: RIFFChunk, of canvas: ImageSize) throws {
        guard frame.length >= 24 else { throw malformed("a frame is too short") }
        let start = frame.start
        let (x, y) = (try u24(at: start) * 2, try u24(at: start + 3) * 2)
        let (width, height) = (try u24(at: start + 6) + 1, try u24(at: start + 9) + 1)
        guard x + width <= canvas.width, y + height <= canvas.height else { throw malformed("a frame lies outside its canvas") }
        let end = start + frame.length
        var chunk = try RIFFChunk(from: self, at: start + 16, end: end)
        if chunk.name == "ALPH" { chunk = try RIFFChunk(from: self, at: chunk.next, end: end) }
        guard try bitstream(chunk) == ImageSize(width: width, height: height) else {
            throw malformed("a frame and its picture differ in size")
        }
    }
}

/// A name, a length and the bytes between `start` and `end`.
struct RIFFChunk {
    let name: FourCC
    let start: Int
    let length: Int

    /// Where the next one begins.
    var next: Int { start + length + length & 1 }

    /// Reads the chunk at `offset`, which lies in a container that ends at `end` and was found to be there whole.
    init(from reader: ImageReader, at offset: Int, end: Int) throws {
        guard end - offset >= 8 else { throw reader.malformed("its container ends within a chunk") }
        name = try reader.name(at: offset)
        length = try reader.u32(at: offset + 4)
        start = offset + 8
        guard length <= end - start else { throw reader.malformed("a chunk is longer than its container") }
    }
}
