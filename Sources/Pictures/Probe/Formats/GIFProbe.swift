/// A GIF is a canvas and a row of blocks, frames among them, up to a trailer.
enum GIFProbe {
    static func size(in reader: inout ImageReader) throws -> ImageSize {
        reader.order = .little
        var (width, height) = (try reader.u16(at: 6), try reader.u16(at: 8))
        if width > 0, height > 0 { _ = try reader.size(width, height) }
        var offset = 13 + palette(try reader.u8(at: 10))
        var hasFrame = false
        while true {
            reader.part = hasFrame ? "its trailer" : "its picture"
            switch try reader.u8(at: offset) {
            case 0x2c:
                let frame = try GIFFrame(from: &reader, at: offset)
                // As browsers do with a canvas that has no size.
                if width == 0 { width = frame.right }
                if height == 0 { height = frame.bottom }
                offset = try passBlocks(in: &reader, from: frame.end)
                hasFrame = true
            case 0x21: offset = try passBlocks(in: &reader, from: offset + 2)
            case 0x3b:
                guard hasFrame else { throw reader.malformed("it ends before a picture") }
                return try reader.size(width, height)
            // A block of data with one terminator too many.
            case 0x00: offset += 1
            default: throw reader.malformed("what follows a block is not a block")
            }
        }
    }

    /// How many bytes of colors a descriptor's flags announce.
    static func palette(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1) }

    /// The offset behind blocks that each begin with their length, of which the last has none.
    private static func passBlocks(in reader: inout ImageReader, from start: Int) throws -> Int {
        var offset = start
        while true {
            let length = try reader.u8(at: offset)
            offset += 1 + length
            if length == 0 { return offset }
        }
    }
}

/// The descriptor of one frame, with its colors.
struct GIFFrame {
    let right: Int
    let bottom: Int
    /// Where its data begins.
    let end: Int

    init(from reader: inout ImageReader, at offset: Int) throws {
        let (left, top) = (try reader.u16(at: offset + 1), try reader.u16(at: offset + 3))
        let (width, height) = (try reader.u16(at: offset + 5), try reader.u16(at: offset + 7))
        // Decoders make room for a frame, also when it is larger than its canvas.
        if width > 0, height > 0 { _ = try reader.size(width, height) }
        right = left + width
        bottom = top + height
        let codes = offset + 10 + GIFProbe.palette(try reader.u8(at: offset + 9))
        guard (1...11).contains(try reader.u8(at: codes)) else { throw reader.malformed("the code size of a frame is out of range") }
        end = codes + 1
    }
}
