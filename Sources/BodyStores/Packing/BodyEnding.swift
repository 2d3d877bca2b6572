internal import GannetBasics
internal import ImageProbe

/// The ending of a body's name in a sample: `jpg`, `pdf`, `bin`. Readers choose a decoder by it.
///
/// The bytes of a picture say what it is, and servers often say something else. No body is called `json` or `txt`, which are the
/// sample's own parts.
enum BodyEnding {
    /// Formats are known by fewer bytes.
    private static let beginning = 4096

    private static let types: [String: String] = [
        "application/json": "body.json", "application/pdf": "pdf", "application/xml": "xml", "application/zip": "zip",
        "application/gzip": "gz",
        "audio/mpeg": "mp3", "audio/wav": "wav", "audio/flac": "flac", "audio/ogg": "ogg",
        "image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp", "image/avif": "avif", "image/svg+xml": "svg",
        "text/css": "css", "text/csv": "csv", "text/html": "html", "text/plain": "body.txt", "text/xml": "xml",
        "video/mp4": "mp4", "video/webm": "webm",
    ]

    /// - Parameter path: The body's file.
    static func of(_ path: String, contentType: String) -> String {
        if let format = picture(path) { return ending(format) }
        let type = contentType.prefix { $0 != ";" }.trimmingSuffix(while: { $0 == " " || $0 == "\t" }).lowercased()
        return types[type] ?? "bin"
    }

    private static func ending(_ format: ImageFormat) -> String { format == .jpeg ? "jpg" : format.rawValue }

    private static func picture(_ path: String) -> ImageFormat? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: beginning)
        let count = bytes.withUnsafeMutableBytes { Descriptor.read(into: $0, from: descriptor, at: 0) } ?? 0
        do throws(ImageProbeError) {
            return try ImageProbe().examine(Array(bytes[..<count])).format
        } catch {
            switch error {
            case .truncated(let format, _), .malformed(let format, _), .tooManyPixels(let format, _, _): return format
            case .notAnImage: return nil
            }
        }
    }
}

extension Substring {
    fileprivate func trimmingSuffix(while isLast: (Character) -> Bool) -> Substring {
        var rest = self
        while let last = rest.last, isLast(last) { rest = rest.dropLast() }
        return rest
    }
}
