/// The IHDR chunk, which every PNG begins with.
struct PNGHeader {
    let size: ImageSize
    let usesPalette: Bool

    /// The signature and the header together.
    static let length = 33

    /// Reads it from a PNG that begins at `start`.
    init(from reader: inout ImageReader, at start: Int) throws(ImageProbeError) {
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
    private static func checksum(of reader: inout ImageReader, at offset: Int, count: Int) throws(ImageProbeError) -> Int {
        var sum: UInt32 = .max
        for index in 0..<count {
            sum ^= UInt32(try reader.u8(at: offset + index))
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
        }
        return Int(~sum)
    }
}
