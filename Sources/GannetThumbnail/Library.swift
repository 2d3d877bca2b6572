internal import CVips
internal import GannetPictures
internal import Glibc

/// libvips, with what strangers may reach of it.
enum Library {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The loaders that are tested with made-up files all the time (OSS-Fuzz), by the names of their classes in libvips.
    private static let loaders = [
        "VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadWebp", "VipsForeignLoadNsgif", "VipsForeignLoadHeif",
    ]

    static func start() throws(Failure) {
        // No translations of messages, whose files would be opened later. No intermediate picture goes into a file.
        setenv("LC_ALL", "C", 1)
        setenv("VIPS_DISC_THRESHOLD", "1000g", 1)
        gannet_vips_quiet()
        guard vips_init("gannet-thumbnail") == 0 else { throw Failure(description: "libvips cannot start: \(message)") }
        // Vector code is made at run time, in memory that may be run: the sandbox permits none.
        vips_vector_set_enabled(0)
        vips_concurrency_set(1)
        vips_cache_set_max(0)
        vips_block_untrusted_set(1)
        vips_operation_block_set("VipsForeignLoad", 1)
        for loader in loaders { vips_operation_block_set(loader, 0) }
    }

    /// Makes and reads a picture of each format. Code that a coder loads at its first use cannot be loaded later.
    static func useEveryCoder(pixels: Int) throws {
        var made: OpaqueImage?
        guard gannet_vips_sample(&made) == 0, let made else { throw Failure(description: "libvips makes no picture: \(message)") }
        let sample = Image(made)
        var samples = [try sample.profiledJPEG()]
        for format in ThumbnailFormat.allCases {
            do {
                samples.append(try sample.encoded(as: format))
            } catch {
                throw Failure(description: "libvips cannot write \(format) here: \(error).")
            }
        }
        for bytes in samples {
            for fit in ThumbnailFit.allCases {
                try bytes.withUnsafeBytes { bytes in
                    for side in [24, 100] {
                        let request = ThumbnailRequest(side: side, fit: fit, small: .enlarge, format: .plain, quality: nil)
                        _ = try Picture(bytes, pixels: pixels).thumbnail(request)
                    }
                }
            }
        }
    }

    /// Of the last failure. It has words of the picture's author in it, so it is cut short and in ASCII.
    static var message: String {
        defer { vips_error_clear() }
        let text = String(cString: vips_error_buffer())
        let line = text.split(separator: "\n").first ?? "libvips gives no reason"
        return String(String.UnicodeScalarView(line.unicodeScalars.filter { 0x20...0x7E ~= $0.value }.prefix(200)))
    }
}
