/// A GIF is a canvas and a row of blocks, frames among them, up to a trailer.
extension ImageReader {
    mutating func gifSize() throws -> ImageSize {
        order = .little
        var (width, height) = (try u16(at: 6), try u16(at: 8))
        if width > 0, height > 0 { _ = try size(width, height) }
        var offset = 13 + Self.palette(try u8(at: 10))
        var hasFrame = false
        while true {
            part = hasFrame ? "its trailer" : "its picture"
            switch try u8(at: offset) {
            case 0x2c:
                let frame = try gifFrame(at: offset)
                // As browsers do with a canvas that has no size.
                if width == 0 { width = frame.right }
                if height == 0 { height = frame.bottom }
                offset = try passBlocks(from: frame.end)
                hasFrame = true
            case 0x21: offset = try passBlocks(from: offset + 2)
            case 0x3b:
                guard hasFrame else { throw malformed("it ends before a picture") }
                return try size(width, height)
            // A block of data with one terminator too many.
            case 0x00: offset += 1
            default: throw malformed("what follows a block is not a block")
            }
        }
    }

    /// How many bytes of colors a descriptor's flags announce.
    private static func palette(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1) }

    /// The offset behind blocks that each begin with their length, of which the last has none.
    private func passBlocks(from start: Int) throws -> Int {
        var offset = start
        while true {
            let length = try u8(at: offset)
            offset += 1 + length
            if length == 0 { return offset }
        }
    }

    /// The descriptor of one frame, with its colors: its sides, and where its data begins.
    private func gifFrame(at offset: Int) throws -> (right: Int, bottom: Int, end: Int) {
        let (left, top) = (try u16(at: offset + 1), try u16(at: offset + 3))
        let (width, height) = (try u16(at: offset + 5), try u16(at: offset + 7))
        // Decoders make room for a frame, also when it is larger than its canvas.
        if width > 0, height > 0 { _ = try size(width, height) }
        let codes = offset + 10 + Self.palette(try u8(at: offset + 9))
        guard (1...11).contains(try u8(at: codes)) else { throw malformed("the code size of a frame is out of range") }
        return (left + width, top + height, codes + 1)
    }
}
