internal import GannetBase
internal import GannetHTTP
internal import GannetPictures

/// The kind of a body by its first bytes, beside the type as which it was served.
struct BodyKind {
    private enum Found {
        case picture(ImageFormat)
        case other(Resemblance)
    }

    /// As it was served, in small letters and without parameters.
    let servedType: String
    private let found: Found
    /// Whether all of it is UTF-8. Of a longer body than is looked at that is not known.
    private let isText: Bool

    /// Enough for the root of an SVG, which comments and declarations may precede. Other formats are known by fewer bytes.
    private static let beginning = 64 * 1024

    /// Nil for a file that cannot be read.
    init?(of body: DownloadedBody, servedAs contentType: String) {
        switch body {
        case .bytes(let bytes): self.init(bytes, servedAs: contentType)
        case .file(let path, _): self.init(ofFile: path, servedAs: contentType)
        }
    }

    /// Nil for a file that cannot be read.
    init?(ofFile path: String, servedAs contentType: String) {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let bytes = Descriptor.contents(of: descriptor, atMost: Self.beginning + 1) else { return nil }
        self.init(bytes, servedAs: contentType)
    }

    private init(_ bytes: [UInt8], servedAs contentType: String) {
        servedType = Self.mediaType(contentType)
        isText = bytes.count <= Self.beginning && String(validating: bytes, as: UTF8.self) != nil
        do throws(ImageProbeError) {
            found = .picture(try ImageProbe().examine(bytes).format)
        } catch {
            switch error {
            case .truncated(let format, _), .malformed(let format, _), .tooManyPixels(let format, _, _): found = .picture(format)
            case .notAnImage(let resemblance): found = .other(resemblance)
            }
        }
    }

    /// The clause about a body that was served as a picture and is none, such as "it looks like HTML". Nil for other bodies.
    ///
    /// Types that no probe knows are believed.
    var falsePicture: String? {
        guard case .other(let resemblance) = found, resemblance != .otherImage, ImageFormat(mediaType: servedType) != nil else {
            return nil
        }
        return resemblance.clause
    }

    /// The same for a file. Nil also for a file that cannot be read. Only a body that was served as a picture is looked at.
    static func falsePicture(ofFile path: String, servedAs contentType: String?) -> String? {
        guard let contentType, isPicture(servedAs: contentType) else { return nil }
        return BodyKind(ofFile: path, servedAs: contentType)?.falsePicture
    }

    static func falsePicture(_ download: Download) -> String? {
        guard let type = download.contentType, isPicture(servedAs: type) else { return nil }
        return BodyKind(of: download.body, servedAs: type)?.falsePicture
    }

    /// The media type, by the bytes of a false picture, and by the answer's head for others. Nil where nothing is known.
    ///
    /// JSON and text have to be whole and in UTF-8: readers decode these.
    var mediaType: String? {
        guard falsePicture != nil, case .other(let resemblance) = found else { return servedType }
        switch resemblance {
        case .html: return "text/html"
        case .xml: return "text/xml"
        case .pdf: return "application/pdf"
        case .json: return isText ? "application/json" : nil
        case .text: return isText ? "text/plain" : nil
        case .empty, .archive, .otherImage, .media, .binary: return nil
        }
    }

    private static let endings: [String: String] = [
        "application/json": "body.json", "application/pdf": "pdf", "application/xml": "xml", "application/zip": "zip",
        "application/gzip": "gz",
        "audio/mpeg": "mp3", "audio/wav": "wav", "audio/flac": "flac", "audio/ogg": "ogg",
        "text/css": "css", "text/csv": "csv", "text/html": "html", "text/plain": "body.txt", "text/xml": "xml",
        "video/mp4": "mp4", "video/webm": "webm",
    ]

    /// The ending of its name in a sample: `jpg`, `pdf`, `bin`. Readers choose a decoder by it.
    ///
    /// The bytes say whether a body is a picture, and servers often say something else. No body is called `json` or `txt`, which are the
    /// sample's own parts.
    var ending: String {
        if case .picture(let format) = found { return format == .jpeg ? "jpg" : format.rawValue }
        return mediaType.flatMap { Self.endings[$0] } ?? "bin"
    }

    /// Whether a type is one whose bytes are known.
    static func isPicture(servedAs contentType: String) -> Bool { ImageFormat(mediaType: mediaType(contentType)) != nil }

    private static func mediaType(_ contentType: String) -> String {
        String(contentType.prefix { $0 != ";" }).trimmedOfBlanks.lowercased()
    }
}
