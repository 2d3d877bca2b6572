extension Resemblance {
    /// Judges by the first bytes alone. Of markup the root element tells more, see `Markup`.
    init(of source: inout ByteSource) {
        if source.count == 0 {
            self = .empty
        } else if let known = Self.signature(&source) {
            self = known
        } else {
            self = Self.text(&source) ?? .binary
        }
    }

    /// By the major brand of a file made of boxes.
    init(ofBrand brand: FourCC) {
        self = Self.pictureBrands.contains(brand) ? .otherImage : .media
    }

    private static let pictureBrands: Set<FourCC> = ["heic", "heix", "heim", "heis", "hevc", "hevx", "jxl ", "jp2 ", "jpx ", "crx "]

    private static func signature(_ source: inout ByteSource) -> Resemblance? {
        let first = source.number(at: 0, size: 4, .big) ?? 0
        switch first {
        case 0x2550_4446: return .pdf
        // gzip, zip, zstd, 7z, xz.
        case 0x1f8b_0000...0x1f8b_ffff, 0x504b_0304, 0x28b5_2ffd, 0x377a_bcaf, 0xfd37_7a58: return .archive
        // JPEG 2000, Photoshop, JPEG XL, and the box that the first and the last of them may come in.
        case 0xff4f_ff51, 0x3842_5053, 0xff0a_0000...0xff0a_ffff, 0x0000_000c: return .otherImage
        // Matroska, Ogg, RIFF with something else than a picture, MP3.
        case 0x1a45_dfa3, 0x4f67_6753, 0x5249_4646, 0x4944_3300...0x4944_33ff: return .media
        default: return nil
        }
    }

    /// JSON or text, if there is no byte that neither has, and at least one of ASCII.
    private static func text(_ source: inout ByteSource) -> Resemblance? {
        var visible: [UInt8] = []
        var hasASCII = false
        for offset in 0..<min(source.count, 512) {
            guard let byte = source.byte(at: offset), byte >= 0x20 || (0x09...0x0d).contains(byte) || byte == 0x1b, byte != 0x7f else {
                return nil
            }
            hasASCII = hasASCII || byte < 0x80
            // A byte order mark stands before the first visible one.
            let isMark = offset < 3 && [0xef, 0xbb, 0xbf].contains(byte)
            if byte > 0x20, visible.count < 2, !isMark { visible.append(byte) }
        }
        guard hasASCII else { return nil }
        guard visible.count == 2 else { return .text }
        let (isObject, isArray) = (visible[0] == UInt8(ascii: "{"), visible[0] == UInt8(ascii: "["))
        if isObject, visible[1] == UInt8(ascii: "\"") || visible[1] == UInt8(ascii: "}") { return .json }
        if isArray, "\"{[]-0123456789tfn".utf8.contains(visible[1]) { return .json }
        return .text
    }
}
