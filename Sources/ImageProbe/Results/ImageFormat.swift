/// The kinds of image that are told by their bytes.
package enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    case png, jpeg, gif, webp, avif, bmp, tiff, ico, svg

    /// As people write it.
    package var name: String { self == .webp ? "WebP" : rawValue.uppercased() }
}
