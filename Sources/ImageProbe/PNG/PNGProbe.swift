/// A PNG is a row of chunks from its header to IEND; an APNG has the chunks of its frames among them.
enum PNGProbe {
    static func size(in reader: inout ImageReader) throws(ImageProbeError) -> ImageSize {
        let header = try PNGHeader(from: &reader, at: 0)
        var offset = PNGHeader.length
        var hasPalette = false
        var hasData = false
        while true {
            reader.part = hasData ? "the end of its image data" : "its image data"
            let length = try reader.u32(at: offset)
            let type = try reader.name(at: offset + 4)
            guard length <= Int(Int32.max), isName(type) else { throw reader.malformed("what follows a chunk is not a chunk") }
            // Length, name and checksum are twelve bytes.
            try reader.require(length + 12, at: offset)
            switch type {
            case "IHDR": throw reader.malformed("it has two headers")
            case "PLTE": hasPalette = true
            case "IDAT":
                guard hasPalette || !header.usesPalette else { throw reader.malformed("its palette is missing") }
                hasData = hasData || length > 0
            case "fcTL": try checkFrame(in: &reader, at: offset + 8, length: length, canvas: header.size)
            case "IEND":
                guard hasData else { throw reader.malformed("it has no image data") }
                return header.size
            default: break
            }
            offset += length + 12
        }
    }

    private static func checkFrame(
        in reader: inout ImageReader, at offset: Int, length: Int, canvas: ImageSize
    ) throws(ImageProbeError) {
        guard length == 26 else { throw reader.malformed("a frame's header has a wrong length") }
        let (width, height) = (try reader.u32(at: offset + 4), try reader.u32(at: offset + 8))
        let (x, y) = (try reader.u32(at: offset + 12), try reader.u32(at: offset + 16))
        guard width > 0, height > 0, x + width <= canvas.width, y + height <= canvas.height else {
            throw reader.malformed("a frame lies outside its canvas")
        }
    }

    private static func isName(_ type: FourCC) -> Bool {
        [24, 16, 8, 0].allSatisfy { (0x61...0x7a).contains(type.value >> $0 & 0xff | 0x20) }
    }
}
