package import GannetPictures

extension ThumbnailFormat {
    /// A thumbnail of this many pixels takes half as long again as AVIF than as WebP, and one of four times as many takes twice as long. The
    /// client would wait longer for the smaller file (Docs/SERVER.md has the figures).
    private static let mostAVIFPixels = 256 * 256

    /// The best format for a client, by its header `Accept`. `*/*` and `image/*` name none of the newer formats: old clients send these too.
    package static func best(for request: ThumbnailRequest, accepting lines: [String]) -> ThumbnailFormat {
        let types = lines.flatMap { $0.split(separator: ",") }.filter { !isRefused($0) }.map {
            ($0.split(separator: ";").first ?? "").filter { $0 != " " && $0 != "\t" }.lowercased()
        }
        // A whole picture is seldom much higher than wide, so a height without a bound does not count.
        let isSmall = request.width * min(request.width, request.height) <= mostAVIFPixels
        if isSmall, types.contains("image/avif") { return .avif }
        return types.contains("image/webp") ? .webp : .plain
    }

    /// `q=0` says that the client does not read the type.
    private static func isRefused(_ type: Substring) -> Bool {
        type.split(separator: ";").dropFirst().contains { parameter in
            let pair = parameter.filter { $0 != " " && $0 != "\t" }.lowercased().split(separator: "=", maxSplits: 1)
            return pair.count == 2 && pair[0] == "q" && Double(pair[1]) == 0
        }
    }
}
