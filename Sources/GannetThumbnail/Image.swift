internal import CVips
internal import GannetPictures

typealias OpaqueImage = OpaquePointer

/// A picture of libvips.
final class Image {
    let pointer: OpaqueImage

    init(_ pointer: OpaqueImage) { self.pointer = pointer }

    deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }

    var width: Int { Int(vips_image_get_width(pointer)) }
    var height: Int { Int(vips_image_get_height(pointer)) }
    var bands: Int { Int(vips_image_get_bands(pointer)) }
    var size: PictureSize { PictureSize(width, height) }
    /// Whether its metadata turns it onto its side.
    var liesOnItsSide: Bool { vips_image_get_orientation_swap(pointer) != 0 }
    /// Whether its metadata turns or mirrors it at all.
    var isTurned: Bool { vips_image_get_orientation(pointer) > 1 }
    var hasAlpha: Bool { vips_image_hasalpha(pointer) != 0 }
    var hasProfile: Bool { gannet_vips_has_profile(pointer) }
    /// Colours or greys, as most pictures have them.
    var isPlain: Bool {
        let interpretation = Int(vips_image_get_interpretation(pointer))
        return interpretation == GANNET_VIPS_SRGB || interpretation == GANNET_VIPS_B_W
    }

    /// The picture that a function of libvips makes of this one.
    func made(_ make: (OpaqueImage, UnsafeMutablePointer<OpaqueImage?>) -> Int32) throws -> Image {
        var out: OpaqueImage?
        guard make(pointer, &out) == 0, let out else { throw PictureFailure.last() }
        return Image(out)
    }

    /// With eight bits a colour, as all formats have them.
    func inPlainColours() throws -> Image {
        let image = isPlain ? self : try made(gannet_vips_srgb)
        return Int(vips_image_get_format(image.pointer)) == GANNET_VIPS_UCHAR ? image : try image.made(gannet_vips_bytes)
    }

    /// All of its pixels, in memory, and nothing else.
    func decoded() throws -> Image {
        guard let copy = vips_image_copy_memory(pointer) else { throw PictureFailure.last() }
        gannet_vips_forget(copy)
        return Image(copy)
    }

    /// Without a transparency that no pixel makes use of.
    func withoutIdleAlpha() throws -> Image {
        guard hasAlpha, bands > 1 else { return self }
        var least = 0.0
        let alpha = try made { gannet_vips_band($0, $1, Int32(bands - 1), 1) }
        guard gannet_vips_least(alpha.pointer, &least) == 0 else { throw PictureFailure.last() }
        return least < 255 ? self : try made { gannet_vips_band($0, $1, 0, Int32(bands - 1)) }
    }

    /// The part of it that the layout keeps. The rest is never computed.
    func cut(_ layout: ThumbnailLayout) throws -> Image {
        let size = PictureSize(min(layout.made.width, width), min(layout.made.height, height))
        let (left, top) = (Int32(max(0, -layout.left)), Int32(max(0, -layout.top)))
        return size == self.size ? self : try made { gannet_vips_cut($0, $1, left, top, Int32(size.width), Int32(size.height)) }
    }

    /// On the white ground of the layout, if that has one.
    func grounded(_ layout: ThumbnailLayout) throws -> Image {
        let (left, top) = (Int32(layout.left), Int32(layout.top))
        let (width, height) = (Int32(layout.made.width), Int32(layout.made.height))
        return size == layout.made ? self : try made { gannet_vips_ground($0, $1, left, top, width, height) }
    }

    /// With white behind all that is transparent.
    func opaque() throws -> Image { hasAlpha ? try made(gannet_vips_flatten) : self }

    /// A file of the format, without any metadata: colours are sRGB.
    /// - Parameter quality: Nil for the format's usual one.
    func encoded(as format: ThumbnailFormat, quality: Int? = nil) throws -> [UInt8] {
        let quality = quality.map { Int32($0) }
        switch format {
        case .jpeg: return try opaque().file { gannet_vips_jpeg($0, $1, $2, quality ?? 80) }
        case .png: return try file(gannet_vips_png)
        case .webp: return try file { gannet_vips_webp($0, $1, $2, quality ?? 78) }
        case .avif: return try file { gannet_vips_avif($0, $1, $2, quality ?? 55) }
        case .plain: return try encoded(as: plainFormat)
        }
    }

    var plainFormat: ThumbnailFormat { hasAlpha ? .png : .jpeg }

    func profiledJPEG() throws -> [UInt8] { try file(gannet_vips_profiled_jpeg) }

    private func file(
        _ write: (OpaqueImage, UnsafeMutablePointer<UnsafeMutableRawPointer?>, UnsafeMutablePointer<Int>) -> Int32
    ) throws -> [UInt8] {
        var bytes: UnsafeMutableRawPointer?
        var count = 0
        guard write(pointer, &bytes, &count) == 0, let bytes else { throw PictureFailure.last() }
        defer { g_free(bytes) }
        return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }
}
