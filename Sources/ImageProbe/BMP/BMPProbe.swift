/// A BMP is a file header, a bitmap header, perhaps colors, and rows of pixels.
enum BMPProbe {
    static func size(in reader: inout ImageReader) throws(ImageProbeError) -> ImageSize {
        reader.order = .little
        let header = try BitmapHeader(from: &reader, at: 14)
        let size = try reader.size(header.width, abs(header.height))
        let start = try reader.u32(at: 10)
        guard start >= 14 + header.length else { throw reader.malformed("its pixels begin inside its header") }
        if let profile = try header.profile(in: &reader, at: 14) {
            reader.part = "the end of its color profile"
            try reader.require(profile.count, at: 14 + profile.lowerBound)
        }
        reader.part = "the end of its pixels"
        switch (header.compression, header.bits) {
        case (.none, _):
            // Each row takes a multiple of four bytes.
            let row = size.width.times(header.bits).plus(31) / 32
            try reader.require(row.times(4).times(size.height), at: start)
        case (.runs8, 8): try BitmapRuns.pass(in: &reader, from: start, pixelsPerByte: 1)
        case (.runs4, 4): try BitmapRuns.pass(in: &reader, from: start, pixelsPerByte: 2)
        default: throw reader.malformed("its compression and its bits per pixel do not go together")
        }
        return size
    }
}
