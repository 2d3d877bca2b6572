/// Tells the format and size of an image by its bytes, and whether all of it is there.
///
/// It decodes nothing: time is linear in the number of bytes, and memory is bounded. Hostile bytes cause an error at worst.
package struct ImageProbe: Sendable {
    package var limits: ImageLimits

    package init(limits: ImageLimits = ImageLimits()) {
        self.limits = limits
    }

    /// Bytes behind an image's end are not looked at: servers append to bodies.
    package func examine(_ bytes: UnsafeRawBufferPointer) throws(ImageProbeError) -> ImageInfo {
        let source = ByteSource(bytes: bytes)
        guard let format = ImageFormat(signatureOf: source) else { throw .notAnImage(Resemblance(of: source)) }
        var reader = ImageReader(source, as: format, limits: limits)
        do {
            let size: ImageSize? =
                switch format {
                case .png: try reader.pngSize()
                case .jpeg: try reader.jpegSize()
                case .gif: try reader.gifSize()
                case .webp: try reader.webPSize()
                case .avif: try reader.avifSize()
                case .bmp: try reader.bmpSize()
                case .tiff: try TIFFProbe.size(in: &reader)
                case .ico: try reader.icoSize()
                case .svg: try reader.svgSize()
                }
            return ImageInfo(format: format, size: size)
        } catch {
            throw (error as? ImageProbeError) ?? .malformed(format, "\(error)")
        }
    }

    package func examine(_ bytes: [UInt8]) throws(ImageProbeError) -> ImageInfo {
        try bytes.withUnsafeBufferPointer { (buffer) throws(ImageProbeError) in try examine(UnsafeRawBufferPointer(buffer)) }
    }
}
