/// What a whole image said about itself.
public struct ImageInfo: Sendable, Hashable {
    public let format: ImageFormat
    /// The picture's size as stored, before any rotation that metadata asks for; the canvas of an animation, the first page of a TIFF, the
    /// largest picture of an icon. An SVG may have none, all others do.
    public let size: ImageSize?

    public init(format: ImageFormat, size: ImageSize?) {
        self.format = format
        self.size = size
    }
}
