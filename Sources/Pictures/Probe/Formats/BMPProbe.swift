/// A BMP is a file header, a bitmap header, perhaps colors, and rows of pixels.
extension ImageReader {
    mutating func bmpSize() throws -> ImageSize {
        order = .little
        let header = try BitmapHeader(from: self, at: 14)
        let size = try self.size(header.width, abs(header.height))
        let start = try u32(at: 10)
        guard start >= 14 + header.length else { throw malformed("its pixels begin inside its header") }
        if let profile = try header.profile(in: self, at: 14) {
            part = "the end of its color profile"
            try require(profile.count, at: 14 + profile.lowerBound)
        }
        part = "the end of its pixels"
        switch (header.compression, header.bits) {
        case (.none, _):
            // Each row takes a multiple of four bytes.
            let row = size.width.times(header.bits).plus(31) / 32
            try require(row.times(4).times(size.height), at: start)
        case (.runs8, 8): try passRuns(from: start, pixelsPerByte: 1)
        case (.runs4, 4): try passRuns(from: start, pixelsPerByte: 2)
        default: throw malformed("its compression and its bits per pixel do not go together")
        }
        return size
    }

    /// Run-length coded rows, up to the code that ends a bitmap.
    private func passRuns(from start: Int, pixelsPerByte: Int) throws {
        var offset = start
        while true {
            let (count, value) = (try u8(at: offset), try u8(at: offset + 1))
            offset += 2
            guard count == 0 else { continue }
            switch value {
            case 0: continue
            case 1: return
            case 2: offset += 2
            default:
                // Pixels as they are, in a multiple of two bytes.
                let bytes = (value + pixelsPerByte - 1) / pixelsPerByte
                offset += bytes + bytes & 1
            }
        }
    }
}

/// The header that bitmaps have in a BMP and, without the file header, in an icon. Its length tells its version.
struct BitmapHeader {
    enum Compression { case none, runs8, runs4 }

    let length: Int
    let width: Int
    /// Negative when the rows go from the top down.
    let height: Int
    let bits: Int
    let compression: Compression

    /// The lengths of the versions there are: of OS/2 1 and 2 (16 and 64) and of Windows 3, with masks, 4 and 5.
    static let lengths = [12, 16, 40, 52, 56, 64, 108, 124]

    init(from reader: ImageReader, at offset: Int) throws {
        length = try reader.u32(at: offset)
        guard Self.lengths.contains(length) else { throw reader.malformed("its header is of an unknown version") }
        try reader.require(length, at: offset)
        if length == 12 {
            width = try reader.u16(at: offset + 4)
            height = try reader.u16(at: offset + 6)
            bits = try reader.u16(at: offset + 10)
            compression = .none
        } else {
            width = Self.signed(try reader.u32(at: offset + 4))
            height = Self.signed(try reader.u32(at: offset + 8))
            bits = try reader.u16(at: offset + 14)
            switch length > 16 ? try reader.u32(at: offset + 16) : 0 {
            case 0: compression = .none
            case 1: compression = .runs8
            case 2: compression = .runs4
            // Masks say which bits are which color; to OS/2 the number means something else.
            case 3 where length != 64, 6 where length != 64: compression = .none
            default: throw reader.malformed("its compression is unknown")
            }
        }
        guard [1, 2, 4, 8, 16, 24, 32, 64].contains(bits) else { throw reader.malformed("its bits per pixel are out of range") }
    }

    /// Where an embedded color profile lies, counted from the header's start. Only the last version has one.
    func profile(in reader: ImageReader, at offset: Int) throws -> Range<Int>? {
        // "MBED", as a number.
        guard length == 124, try reader.u32(at: offset + 56) == 0x4d42_4544 else { return nil }
        let start = try reader.u32(at: offset + 112)
        return start..<start + (try reader.u32(at: offset + 116))
    }

    private static func signed(_ value: Int) -> Int { value >> 31 == 0 ? value : value - 1 << 32 }
}
