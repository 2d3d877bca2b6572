internal import GannetHTTP
package import GannetPictures

/// The formats of pictures that a client names in its header `Accept`.
///
/// `*/*` and `image/*` name none of the newer formats: old clients send these too.
package struct AcceptedFormats: Sendable {
    private let hasWebP: Bool
    private let hasAVIF: Bool

    package init(_ lines: [String]) {
        let types = lines.flatMap { $0.split(separator: ",") }.filter { !Self.isRefused($0) }.map {
            ($0.split(separator: ";").first ?? "").filter { $0 != " " && $0 != "\t" }.lowercased()
        }
        hasWebP = types.contains("image/webp")
        hasAVIF = types.contains("image/avif")
    }

    /// A thumbnail of this many pixels takes half as long again as AVIF than as WebP, and one of four times as many takes twice as long. The
    /// client would wait longer for the smaller file (Docs/SERVER.md has the figures).
    static let mostAVIFPixels = 256 * 256

    package func best(for request: ThumbnailRequest) -> ThumbnailFormat {
        // A whole picture is seldom much higher than wide, so a height without a bound does not count.
        if hasAVIF, request.width * min(request.width, request.height) <= Self.mostAVIFPixels { return .avif }
        return hasWebP ? .webp : .plain
    }

    /// `q=0` says that the client does not read the type.
    private static func isRefused(_ type: Substring) -> Bool {
        type.split(separator: ";").dropFirst().contains { parameter in
            let pair = parameter.filter { $0 != " " && $0 != "\t" }.lowercased().split(separator: "=", maxSplits: 1)
            return pair.count == 2 && pair[0] == "q" && Double(pair[1]) == 0
        }
    }
}
