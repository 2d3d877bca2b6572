internal import CVips
internal import GannetPictures

/// A stranger's picture, whose head has been found good.
struct Picture {
    private let bytes: UnsafeRawBufferPointer
    /// As its pixels are stored.
    private let size: PictureSize
    private let liesOnItsSide: Bool
    /// Whether its colours may become other numbers. Of most pictures they are those of sRGB already, and management would take half of the time.
    private let isManaged: Bool
    private let hasAlpha: Bool
    private let format: ImageFormat
    /// Whether its metadata says that it lies otherwise than its pixels are stored.
    private let isTurned: Bool
    /// The most pixels of a picture.
    private let pixels: Int

    /// More on a side is more than decoders count.
    private static let longestSide = 65_535
    /// The most that libvips counts (`VIPS_MAX_COORD`), for a picture of which only a part is computed.
    private static let longestScaled = 10_000_000
    /// libvips 8.14 writes beyond its buffer where it manages the colours of a wider picture with transparency.
    private static let longestManagedAlpha = 10_000

    /// - Parameter pixels: The most that the picture may have. They are counted before any is decoded.
    init(_ bytes: UnsafeRawBufferPointer, pixels: Int) throws {
        self.bytes = bytes
        self.pixels = pixels
        let format = try Self.format(of: bytes, pixels: pixels)
        self.format = format
        // Only this loader looks at the bytes. Others would be asked too where none is named, ImageMagick among them, which opens files.
        guard vips_foreign_is_a_buffer(Self.loader(of: format), bytes.baseAddress, bytes.count) != 0 else {
            vips_error_clear()
            throw PictureFailure(.notPicture, "The bytes begin as \(format.name), and libvips does not take them for it.")
        }
        guard let pointer = gannet_vips_open(bytes.baseAddress, bytes.count) else { throw PictureFailure.last() }
        let image = Image(pointer)
        size = image.size
        liesOnItsSide = image.liesOnItsSide
        hasAlpha = image.hasAlpha
        isTurned = image.isTurned
        isManaged = image.hasProfile || !image.isPlain
        guard Self.isPermitted(size, pixels) else {
            throw PictureFailure(.tooLarge, "The picture has \(size) pixels; at most \(pixels) are permitted.")
        }
        // The same container may have pictures of other formats, whose decoders are not for strangers.
        if format == .avif {
            var name: UnsafePointer<CChar>?
            guard vips_image_get_string(image.pointer, "heif-compression", &name) == 0, let name, String(cString: name) == "av1" else {
                vips_error_clear()
                throw PictureFailure(.notPicture, "The container has another picture than AV1.")
            }
        }
    }

    struct Made {
        let format: ThumbnailFormat
        let size: PictureSize
        let original: PictureSize
        let bytes: [UInt8]
    }

    /// Decodes at the wanted size, as far as the format can do that.
    func thumbnail(_ request: ThumbnailRequest) throws -> Made {
        let original = request.isUpright && liesOnItsSide ? PictureSize(size.height, size.width) : size
        if let (refusal, sentence) = request.refusal(of: original) { throw PictureFailure(refusal, sentence) }
        let layout = request.layout(of: original)
        try check(layout, for: request.format)
        var out: OpaqueImage?
        let (width, height) = (Int32(layout.scaled.width), Int32(layout.scaled.height))
        let manages = isManaged && (!hasAlpha || width <= Self.longestManagedAlpha)
        let code: Int32
        if format == .jpeg, !manages, !(request.isUpright && isTurned) {
            code = gannet_vips_scaled_jpeg(bytes.baseAddress, bytes.count, &out, width, height, shrink(to: layout.scaled))
        } else {
            code = gannet_vips_scaled(bytes.baseAddress, bytes.count, &out, width, height, request.isUpright, manages)
        }
        guard code == 0, let out else { throw PictureFailure.last() }
        var image = Image(out)
        guard image.size == layout.scaled else {
            throw PictureFailure(.broken, "libvips made \(image.size) pixels of it, and not \(layout.scaled).")
        }
        image = try image.cut(layout).inPlainColours().decoded().withoutIdleAlpha()
        if request.isOpaque { image = try image.opaque() }
        image = try image.grounded(layout)
        let format = request.format == .plain ? image.plainFormat : request.format
        let bytes = try image.encoded(as: format, quality: request.quality)
        guard bytes.count <= ThumbnailAnswer.mostBytes else {
            throw PictureFailure(.tooLarge, "The new picture has \(bytes.count) bytes; at most \(ThumbnailAnswer.mostBytes) are permitted.")
        }
        return Made(format: format, size: image.size, original: original, bytes: bytes)
    }

    /// A decoder of JPEG leaves out all but every second, fourth or eighth pixel in each direction.
    private func shrink(to scaled: PictureSize) -> Int32 {
        let factor = min(Double(size.width) / Double(scaled.width), Double(size.height) / Double(scaled.height))
        return [8, 4, 2].first { Double($0) * 1.5 <= factor } ?? 1
    }

    /// A stranger chooses the shape of a picture, and so the size of one that is made of it.
    private func check(_ layout: ThumbnailLayout, for format: ThumbnailFormat) throws {
        let made = layout.made
        guard Self.isPermitted(made, pixels), max(made.width, made.height) <= format.longestSide,
            max(layout.scaled.width, layout.scaled.height) <= Self.longestScaled
        else {
            throw PictureFailure(
                .tooLarge,
                "A picture of \(made) pixels would be made of it; at most \(pixels) are permitted, and \(format.longestSide) on a side.")
        }
    }

    private static func isPermitted(_ size: PictureSize, _ pixels: Int) -> Bool {
        let (product, overflow) = size.width.multipliedReportingOverflow(by: size.height)
        return !overflow && product <= pixels && max(size.width, size.height) <= longestSide
    }

    /// By the first bytes. A file whose rest looks damaged may still be one that decoders read, so they decide.
    private static func format(of bytes: UnsafeRawBufferPointer, pixels: Int) throws -> ImageFormat {
        let probe = ImageProbe(limits: ImageLimits(pixels: pixels, side: longestSide))
        let found: ImageFormat
        do throws(ImageProbeError) {
            found = try probe.examine(bytes).format
        } catch {
            switch error {
            case .truncated(let format, _), .malformed(let format, _): found = format
            case .tooManyPixels: throw PictureFailure(.tooLarge, error.description)
            case .notAnImage: throw PictureFailure(.notPicture, error.description)
            }
        }
        switch found {
        case .jpeg, .png, .webp, .gif, .avif: return found
        case .bmp, .tiff, .ico, .svg:
            throw PictureFailure(.notPicture, "Thumbnails are made of JPEG, PNG, WebP, GIF and AVIF, and not of \(found.name).")
        }
    }

    private static func loader(of format: ImageFormat) -> String {
        switch format {
        case .jpeg: "jpegload_buffer"
        case .png: "pngload_buffer"
        case .webp: "webpload_buffer"
        case .gif: "gifload_buffer"
        case .avif: "heifload_buffer"
        case .bmp, .tiff, .ico, .svg: "none"
        }
    }
}

/// Why a picture has no thumbnail.
struct PictureFailure: Error {
    let refusal: ThumbnailRefusal
    let sentence: String

    init(_ refusal: ThumbnailRefusal, _ sentence: String) {
        self.refusal = refusal
        self.sentence = sentence
    }

    /// The last failure of libvips.
    static func last() -> PictureFailure {
        let message = Library.message
        let isMemory = message.contains("out of memory") || message.contains("unable to allocate")
        return isMemory
            ? PictureFailure(.tooLarge, "The picture needs more memory than it may have.")
            : PictureFailure(.broken, "The picture cannot be decoded: \(message).")
    }
}
