extension ImageFormat {
    /// The format that the first bytes announce. Of markup, and of the boxes that films have as well, the format's own probe finds out whether it is an
    /// image.
    init?(signatureOf source: inout ByteSource) {
        if let format = Self.binary(&source) {
            self = format
        } else if Markup(&source) != nil {
            self = .svg
        } else {
            return nil
        }
    }

    private static func binary(_ source: inout ByteSource) -> ImageFormat? {
        guard let first = source.number(at: 0, size: 4, .big) else { return nil }
        switch first {
        case 0x8950_4e47: return source.number(at: 4, size: 4, .big) == 0x0d0a_1a0a ? .png : nil
        case 0xffd8_ff00...0xffd8_ffff: return .jpeg
        case 0x4949_2a00, 0x4d4d_002a, 0x4949_2b00, 0x4d4d_002b: return .tiff
        case 0x0000_0100, 0x0000_0200: return source.number(at: 4, size: 2, .little) ?? 0 > 0 ? .ico : nil
        default: break
        }
        if FourCC(first) == "GIF8", let version = source.number(at: 4, size: 2, .big) {
            // "7a" and "9a".
            return version == 0x3761 || version == 0x3961 ? .gif : nil
        }
        if FourCC(first) == "RIFF", let form = source.number(at: 8, size: 4, .big) { return FourCC(form) == "WEBP" ? .webp : nil }
        if let name = source.number(at: 4, size: 4, .big), FourCC(name) == "ftyp" { return source.holds(12, at: 0) ? .avif : nil }
        // Two letters are a weak sign, so the length of the second header has to be right as well.
        guard first >> 16 == 0x424d, let length = source.number(at: 14, size: 4, .little) else { return nil }
        return BitmapHeader.lengths.contains(length) ? .bmp : nil
    }
}
