internal import CVips
internal import ImageProbe
internal import ThumbnailMessages

/// A stranger's picture, whose head has been found good.
struct Picture {
    private let bytes: UnsafeRawBufferPointer

    /// More on a side is more than decoders count.
    private static let longestSide = 65_535

    /// - Parameter pixels: The most that the picture may have. They are counted before any is decoded.
    init(_ bytes: UnsafeRawBufferPointer, pixels: Int) throws {
        self.bytes = bytes
        let format = try Self.format(of: bytes, pixels: pixels)
        // Only this loader looks at the bytes. Others would be asked too where none is named, ImageMagick among them, which opens files.
        guard vips_foreign_is_a_buffer(Self.loader(of: format), bytes.baseAddress, bytes.count) != 0 else {
            vips_error_clear()
            throw PictureFailure(.notPicture, "The bytes begin as \(format.name), and libvips does not take them for it.")
        }
        guard let pointer = gannet_vips_open(bytes.baseAddress, bytes.count) else { throw PictureFailure.last() }
        let image = Image(pointer)
        let (product, overflow) = image.width.multipliedReportingOverflow(by: image.height)
        guard !overflow, product <= pixels, max(image.width, image.height) <= Self.longestSide else {
            throw PictureFailure(.tooLarge, "The picture has \(image.width) x \(image.height) pixels; at most \(pixels) are permitted.")
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
        let width: Int
        let height: Int
        let bytes: [UInt8]
    }

    /// Decodes at the wanted size, as far as the format can do that.
    func thumbnail(_ request: ThumbnailRequest) throws -> Made {
        var out: OpaqueImage?
        let (width, height) = (Int32(request.width), Int32(request.height))
        guard gannet_vips_thumbnail(bytes.baseAddress, bytes.count, &out, width, height, request.fit == .cover) == 0, let out else {
            throw PictureFailure.last()
        }
        let image = try Image(out).inPlainColours().decoded().withoutIdleAlpha()
        let format = request.format == .plain ? image.plainFormat : request.format
        return Made(format: format, width: image.width, height: image.height, bytes: try image.encoded(as: format))
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
