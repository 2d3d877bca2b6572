internal import GannetPictures

/// The ending of a body's name in a sample: `jpg`, `pdf`, `bin`. Readers choose a decoder by it.
///
/// The bytes say whether a body is a picture, and servers often say something else. No body is called `json` or `txt`, which are the
/// sample's own parts.
enum BodyEnding {
    private static let types: [String: String] = [
        "application/json": "body.json", "application/pdf": "pdf", "application/xml": "xml", "application/zip": "zip",
        "application/gzip": "gz",
        "audio/mpeg": "mp3", "audio/wav": "wav", "audio/flac": "flac", "audio/ogg": "ogg",
        "text/css": "css", "text/csv": "csv", "text/html": "html", "text/plain": "body.txt", "text/xml": "xml",
        "video/mp4": "mp4", "video/webm": "webm",
    ]

    /// - Parameter path: The body's file.
    static func of(_ path: String, contentType: String) -> String {
        let kind = BodyKind(ofFile: path, servedAs: contentType)
        if let format = kind?.format { return format == .jpeg ? "jpg" : format.rawValue }
        return kind?.mediaType.flatMap { types[$0] } ?? "bin"
    }
}
