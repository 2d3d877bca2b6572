/// The kind of content that bytes look like when they are no known image.
package enum Resemblance: String, Sendable, Hashable, CaseIterable {
    case empty, html, xml, json, pdf, text, archive
    /// A picture of a format that is not supported, such as HEIC or JPEG XL.
    case otherImage
    /// A film or sound.
    case media
    case binary

    /// Half a sentence about bytes.
    package var clause: String {
        switch self {
        case .empty: "it is empty"
        case .html: "it looks like HTML"
        case .xml: "it looks like XML"
        case .json: "it looks like JSON"
        case .pdf: "it looks like PDF"
        case .text: "it looks like plain text"
        case .archive: "it looks like compressed data"
        case .otherImage: "it looks like a picture of a format that is not supported"
        case .media: "it looks like audio or video"
        case .binary: "its first bytes are those of no known format"
        }
    }
}

extension Resemblance {
    /// Judges by the first bytes alone. In markup the root element tells more, see `MarkupRoot`.
    init(of source: ByteSource) {
        if source.count == 0 {
            self = .empty
        } else if let known = Self.signature(source) {
            self = known
        } else {
            self = Self.text(source) ?? .binary
        }
    }

    /// By the major brand of a file made of boxes.
    init(ofBrand brand: FourCC) {
        self = Self.pictureBrands.contains(brand) ? .otherImage : .media
    }

    private static let pictureBrands: Set<FourCC> = ["heic", "heix", "heim", "heis", "hevc", "hevx", "jxl ", "jp2 ", "jpx ", "crx "]

    private static func signature(_ source: ByteSource) -> Resemblance? {
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
    private static func text(_ source: ByteSource) -> Resemblance? {
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

extension ImageFormat {
    /// The format that the first bytes announce. Markup, and boxes as films have them too, are judged further by the format's own probe.
    init?(signatureOf source: ByteSource) {
        if let format = Self.binary(source) {
            self = format
        } else if Markup(source) != nil {
            self = .svg
        } else {
            return nil
        }
    }

    private static func binary(_ source: ByteSource) -> ImageFormat? {
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
