/// What a whole image said about itself.
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
