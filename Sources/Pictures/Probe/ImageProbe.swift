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
        var source = ByteSource(bytes)
        guard let format = ImageFormat(signatureOf: &source) else { throw .notAnImage(Resemblance(of: &source)) }
        var reader = ImageReader(source, as: format, limits: limits)
        do {
            return ImageInfo(format: format, size: try size(in: &reader))
        } catch {
            throw (error as? ImageProbeError) ?? .malformed(format, "\(error)")
        }
    }

    package func examine(_ bytes: [UInt8]) throws(ImageProbeError) -> ImageInfo {
        try bytes.withUnsafeBufferPointer { (buffer) throws(ImageProbeError) in try examine(UnsafeRawBufferPointer(buffer)) }
    }

    private func size(in reader: inout ImageReader) throws -> ImageSize? {
        switch reader.format {
        case .png: try PNGProbe.size(in: &reader)
        case .jpeg: try JPEGProbe.size(in: &reader)
        case .gif: try GIFProbe.size(in: &reader)
        case .webp: try WebPProbe.size(in: &reader)
        case .avif: try AVIFProbe.size(in: &reader)
        case .bmp: try BMPProbe.size(in: &reader)
        case .tiff: try TIFFProbe.size(in: &reader)
        case .ico: try ICOProbe.size(in: &reader)
        case .svg: try SVGProbe.size(in: &reader)
        }
    }
}
