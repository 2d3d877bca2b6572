/// A PNG is a row of chunks from its header to IEND; an APNG has the chunks of its frames among them.
enum PNGProbe {
    static func size(in reader: inout ImageReader) throws -> ImageSize {
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
    ) throws {
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

/// The IHDR chunk, which every PNG begins with.
struct PNGHeader {
    let size: ImageSize
    let usesPalette: Bool

    /// The signature and the header together.
    static let length = 33

    /// Reads it from a PNG that begins at `start`.
    init(from reader: inout ImageReader, at start: Int) throws {
        let chunk = start.plus(8)
        try reader.require(25, at: chunk)
        guard try reader.u32(at: chunk) == 13, try reader.name(at: chunk + 4) == "IHDR" else {
            throw reader.malformed("its first chunk is not its header")
        }
        guard try Self.checksum(of: &reader, at: chunk + 4, count: 17) == reader.u32(at: chunk + 21) else {
            throw reader.malformed("its header's checksum is wrong")
        }
        let (width, height) = (try reader.u32(at: chunk + 8), try reader.u32(at: chunk + 12))
        guard width <= Int(Int32.max), height <= Int(Int32.max) else { throw reader.malformed("its width or height is out of range") }
        let (depth, color) = (try reader.u8(at: chunk + 16), try reader.u8(at: chunk + 17))
        guard Self.depths(ofColor: color).contains(depth) else { throw reader.malformed("its color type and bit depth do not go together") }
        guard try reader.u8(at: chunk + 18) == 0, try reader.u8(at: chunk + 19) == 0, try reader.u8(at: chunk + 20) <= 1 else {
            throw reader.malformed("its compression, filter or interlace method is unknown")
        }
        size = try reader.size(width, height)
        usesPalette = color == 3
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
    private static func checksum(of reader: inout ImageReader, at offset: Int, count: Int) throws -> Int {
        var sum: UInt32 = .max
        for index in 0..<count {
            sum ^= UInt32(try reader.u8(at: offset + index))
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
        }
        return Int(~sum)
    }
}
