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
        try examine(ByteSource(bytes))
    }

    package func examine(_ bytes: [UInt8]) throws(ImageProbeError) -> ImageInfo {
        try bytes.withUnsafeBufferPointer { (buffer) throws(ImageProbeError) in try examine(UnsafeRawBufferPointer(buffer)) }
    }

    /// Reads as much of the file as it takes, through 64 KiB of memory, and blocks meanwhile.
    package func examine(fileAt path: String) throws(ImageProbeError) -> ImageInfo {
        let file: FileWindows
        do {
            file = try FileWindows(path: path)
        } catch {
            throw (error as? ImageProbeError) ?? .unreadable(reason: "\(error)")
        }
        return try examine(ByteSource(file))
    }

    func examine(_ bytes: consuming ByteSource) throws(ImageProbeError) -> ImageInfo {
        var source = bytes
        let format = ImageFormat(signatureOf: &source)
        guard let format else {
            let resemblance = Resemblance(of: &source)
            throw source.failure ?? .notAnImage(resemblance)
        }
        var reader = ImageReader(source, as: format, limits: limits)
        do {
            return ImageInfo(format: format, size: try size(in: &reader))
        } catch {
            // Bytes that could not be read looked like the end.
            throw reader.source.failure ?? (error as? ImageProbeError) ?? .unreadable(reason: "\(error)")
        }
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
