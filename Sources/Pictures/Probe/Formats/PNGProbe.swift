/// A PNG is a row of chunks from its header to IEND; an APNG has the chunks of its frames among them.
extension ImageReader {
    mutating func pngSize() throws -> ImageSize {
        let header = try pngHeader(at: 0)
        var offset = Self.pngHeaderLength
        var hasPalette = false
        var hasData = false
        while true {
            part = hasData ? "the end of its image data" : "its image data"
            let length = try u32(at: offset)
            let type = try name(at: offset + 4)
            guard length <= Int(Int32.max), Self.isName(type) else { throw malformed("what follows a chunk is not a chunk") }
            // Length, name and checksum are twelve bytes.
            try require(length + 12, at: offset)
            switch type {
            case "IHDR": throw malformed("it has two headers")
            case "PLTE": hasPalette = true
            case "IDAT":
                guard hasPalette || !header.usesPalette else { throw malformed("its palette is missing") }
                hasData = hasData || length > 0
            case "fcTL": try checkFrame(at: offset + 8, length: length, canvas: header.size)
            case "IEND":
                guard hasData else { throw malformed("it has no image data") }
                return header.size
            default: break
            }
            offset += length + 12
        }
    }

    private func checkFrame(at offset: Int, length: Int, canvas: ImageSize) throws {
        guard length == 26 else { throw malformed("a frame's header has a wrong length") }
        let (width, height) = (try u32(at: offset + 4), try u32(at: offset + 8))
        let (x, y) = (try u32(at: offset + 12), try u32(at: offset + 16))
        guard width > 0, height > 0, x + width <= canvas.width, y + height <= canvas.height else {
            throw malformed("a frame lies outside its canvas")
        }
    }

    private static func isName(_ type: FourCC) -> Bool {
        [24, 16, 8, 0].allSatisfy { (0x61...0x7a).contains(type.value >> $0 & 0xff | 0x20) }
    }

    /// The length of the signature and the header together.
    static let pngHeaderLength = 33

    /// The header (IHDR) of a PNG that begins at `start`.
    func pngHeader(at start: Int) throws -> (size: ImageSize, usesPalette: Bool) {
        let chunk = start.plus(8)
        try require(25, at: chunk)
        guard try u32(at: chunk) == 13, try name(at: chunk + 4) == "IHDR" else {
            throw malformed("its first chunk is not its header")
        }
        guard try checksum(at: chunk + 4, count: 17) == u32(at: chunk + 21) else {
            throw malformed("its header's checksum is wrong")
        }
        let (width, height) = (try u32(at: chunk + 8), try u32(at: chunk + 12))
        guard width <= Int(Int32.max), height <= Int(Int32.max) else { throw malformed("its width or height is out of range") }
        let (depth, color) = (try u8(at: chunk + 16), try u8(at: chunk + 17))
        guard Self.depths(ofColor: color).contains(depth) else { throw malformed("its color type and bit depth do not go together") }
        guard try u8(at: chunk + 18) == 0, try u8(at: chunk + 19) == 0, try u8(at: chunk + 20) <= 1 else {
            throw malformed("its compression, filter or interlace method is unknown")
        }
        return (try size(width, height), color == 3)
    }

    private static func depths(ofColor color: Int) -> [Int] {
        switch color {
        case 0: [1, 2, 4, 8, 16]
        case 3: [1, 2, 4, 8]
        case 2, 4, 6: [8, 16]
        default: []
        }
    }

    /// CRC-32 bit by bit: for the few bytes of a header a table would cost more than it saves.
    private func checksum(at offset: Int, count: Int) throws -> Int {
        var sum: UInt32 = .max
        for index in 0..<count {
            sum ^= UInt32(try u8(at: offset + index))
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
        }
        return Int(~sum)
    }
}
