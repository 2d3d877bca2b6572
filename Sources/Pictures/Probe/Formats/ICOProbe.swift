/// An icon or a cursor is a directory and the pictures it names. The largest is what is shown where there is room.
extension ImageReader {
    mutating func icoSize() throws -> ImageSize {
        order = .little
        part = "the end of its directory"
        let count = try u16(at: 4)
        guard count > 0 else { throw malformed("its directory is empty") }
        try require(16 * count, at: 6)
        part = "the end of a picture"
        var largest = ImageSize(width: 0, height: 0)
        for entry in stride(from: 6, to: 6 + 16 * count, by: 16) {
            let (length, offset) = (try u32(at: entry + 8), try u32(at: entry + 12))
            try require(length, at: offset)
            let size = try picture(at: offset, length: length)
            if size.width.times(size.height) > largest.width.times(largest.height) { largest = size }
        }
        return largest
    }

    /// The size of a picture by its own header. The directory has one byte for each side, in which 256 and all that is larger are 0, and some writers
    /// count the mask there as well.
    private mutating func picture(at offset: Int, length: Int) throws -> ImageSize {
        if length >= Self.pngHeaderLength, try name(at: offset) == FourCC(0x8950_4e47) {
            order = .big
            defer { order = .little }
            return try pngHeader(at: offset).size
        }
        guard length >= 40 else { throw malformed("a picture is too short") }
        let header = try BitmapHeader(from: self, at: offset)
        guard header.length <= length else { throw malformed("a picture is too short") }
        // Below the rows of the picture are those of its mask.
        return try size(header.width, abs(header.height) / 2)
    }
}
