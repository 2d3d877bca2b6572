/// The kinds of image that are told by their bytes.
public enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    case png, jpeg, gif, webp, avif, bmp, tiff, ico, svg

    /// As people write it.
    public var name: String { self == .webp ? "WebP" : rawValue.uppercased() }
}
