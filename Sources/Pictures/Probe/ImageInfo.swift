/// The format and size of a whole image.
package struct ImageInfo: Sendable, Hashable {
    package let format: ImageFormat
    /// The picture's size as stored, before any rotation that metadata asks for; the canvas of an animation, the first page of a TIFF, the
    /// largest picture of an icon. An SVG may have none, all others do.
    package let size: ImageSize?

    package init(format: ImageFormat, size: ImageSize?) {
        self.format = format
        self.size = size
    }
}

/// The formats of images that are recognized by their bytes.
public enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    case png, jpeg, gif, webp, avif, bmp, tiff, ico, svg

    /// As people write it.
    public var name: String { self == .webp ? "WebP" : rawValue.uppercased() }
}

extension ImageFormat {
    /// The format of a media type, which is in small letters and has no parameters. Servers use other names than the registered ones, too.
    package init?(mediaType: String) {
        switch mediaType {
        case "image/png", "image/x-png", "image/apng": self = .png
        case "image/jpeg", "image/jpg", "image/pjpeg": self = .jpeg
        case "image/gif": self = .gif
        case "image/webp": self = .webp
        case "image/avif": self = .avif
        case "image/bmp", "image/x-bmp", "image/x-ms-bmp": self = .bmp
        case "image/tiff": self = .tiff
        case "image/vnd.microsoft.icon", "image/x-icon": self = .ico
        case "image/svg+xml": self = .svg
        default: return nil
        }
    }
}

/// Pixels across and down, both at least one.
public struct ImageSize: Sendable, Hashable, CustomStringConvertible {
    public let width: Int
    public let height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    public var description: String { "\(width) × \(height)" }
}

/// The largest picture that is accepted. A few hundred bytes can announce billions of pixels, for which a decoder would take memory.
public struct ImageLimits: Sendable, Hashable {
    /// Pixels in all.
    public var pixels: Int
    /// Pixels across, and down: a picture of one row may be small and still be more than decoders can count.
    public var side: Int

    public init(pixels: Int = 100_000_000, side: Int = 1_000_000) {
        self.pixels = pixels
        self.side = side
    }

    func permit(_ size: ImageSize) -> Bool {
        size.width <= side && size.height <= side && size.width.times(size.height) <= pixels
    }
}

/// Why bytes are not a whole image.
package enum ImageProbeError: Error, Sendable, Hashable {
    case notAnImage(Resemblance)
    /// The bytes end too early: another attempt may bring the rest.
    case truncated(ImageFormat, missing: String)
    case malformed(ImageFormat, String)
    case tooManyPixels(ImageFormat, ImageSize, limits: ImageLimits)
}

extension ImageProbeError: CustomStringConvertible {
    /// One sentence.
    package var description: String {
        switch self {
        case .notAnImage(let resemblance): "Not an image: \(resemblance.clause)."
        case .truncated(let format, let missing): "The \(format.name) is truncated: \(missing) is missing."
        case .malformed(let format, let what): "The \(format.name) is malformed: \(what)."
        case .tooManyPixels(let format, let size, let limits):
            "The \(format.name) has \(size) pixels; at most \(limits.pixels) are permitted, and \(limits.side) on a side."
        }
    }
}
