/// Why bytes are not a whole image.
package enum ImageProbeError: Error, Sendable, Hashable {
    case notAnImage(Resemblance)
    /// The bytes end too early: another attempt may bring the rest.
    case truncated(ImageFormat, missing: String)
    case malformed(ImageFormat, String)
    case tooManyPixels(ImageFormat, ImageSize, limits: ImageLimits)
    /// The file could not be read, which says nothing about the image.
    case unreadable(reason: String)
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
        case .unreadable(let reason): "The file cannot be read: \(reason)."
        }
    }
}
