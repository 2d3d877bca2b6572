internal import HTTPEngine
internal import ThumbnailMessages

/// The formats of pictures that a client names in its header `Accept`.
///
/// `*/*` and `image/*` name none of the newer formats: old clients send these too.
struct AcceptedFormats: Sendable {
    private let hasWebP: Bool
    private let hasAVIF: Bool

    init(_ lines: [String]) {
        let types = lines.flatMap { $0.split(separator: ",") }.filter { !Self.isRefused($0) }.map {
            ($0.split(separator: ";").first ?? "").filter { $0 != " " && $0 != "\t" }.lowercased()
        }
        hasWebP = types.contains("image/webp")
        hasAVIF = types.contains("image/avif")
    }

    /// Above this many pixels, writing AVIF takes longer than fetching and decoding most pictures, so that a client would wait for fewer bytes.
    static let mostAVIFPixels = 256 * 256

    /// - Parameters: The sides that are wanted; nil for one that follows from the other.
    func best(width: Int?, height: Int?) -> ThumbnailFormat {
        let known = width ?? height ?? ThumbnailRequest.sides.upperBound
        if hasAVIF, (width ?? known) * (height ?? known) <= Self.mostAVIFPixels { return .avif }
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
