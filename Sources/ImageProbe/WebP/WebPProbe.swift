/// A WebP is a RIFF container: one chunk with a picture, or an extended header (VP8X) and what it announces.
enum WebPProbe {
    static func size(in reader: inout ImageReader) throws(ImageProbeError) -> ImageSize {
        reader.order = .little
        let length = try reader.u32(at: 4)
        guard length >= 12 else { throw reader.malformed("its container is too short for a picture") }
        reader.part = "the end of its container"
        try reader.require(length, at: 8)
        let end = 8 + length
        let first = try RIFFChunk(from: &reader, at: 12, end: end)
        return try first.name == "VP8X" ? WebPCanvas(from: &reader, in: first, end: end).size : bitstream(in: &reader, first)
    }

    /// The size of a lossy or lossless picture.
    static func bitstream(in reader: inout ImageReader, _ chunk: RIFFChunk) throws(ImageProbeError) -> ImageSize {
        switch chunk.name {
        case "VP8 ":
            guard chunk.length >= 10 else { throw reader.malformed("its picture is too short") }
            let tag = try reader.u24(at: chunk.start)
            guard tag & 1 == 0, try reader.u24(at: chunk.start + 3) == 0x2a019d else {
                throw reader.malformed("its picture is no key frame")
            }
            guard tag >> 5 <= chunk.length - 10 else { throw reader.malformed("its picture is shorter than it says") }
            let (width, height) = (try reader.u16(at: chunk.start + 6), try reader.u16(at: chunk.start + 8))
            // The upper two bits ask for scaling, which is not done.
            return try reader.size(width & 0x3fff, height & 0x3fff)
        case "VP8L":
            guard chunk.length >= 5 else { throw reader.malformed("its picture is too short") }
            let bits = try reader.u32(at: chunk.start + 1)
            guard try reader.u8(at: chunk.start) == 0x2f, bits >> 29 == 0 else { throw reader.malformed("its picture has no header") }
            return try reader.size(bits & 0x3fff + 1, bits >> 14 & 0x3fff + 1)
        default: throw reader.malformed("there is no picture where one has to be")
        }
    }
}
