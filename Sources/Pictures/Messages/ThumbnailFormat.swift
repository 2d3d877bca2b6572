/// The format of a thumbnail. The numbers are those of the messages.
package enum ThumbnailFormat: UInt8, Sendable, Hashable, CaseIterable {
    case jpeg = 1
    case png = 2
    case webp = 3
    case avif = 4
    /// PNG for a picture with transparent parts, and JPEG for all others: every client can show them.
    case plain = 5

    /// The media type; that of JPEG for `plain`, which no thumbnail has.
    package var mediaType: String {
        switch self {
        case .jpeg, .plain: "image/jpeg"
        case .png: "image/png"
        case .webp: "image/webp"
        case .avif: "image/avif"
        }
    }

    /// The longest side that a file of the format can have.
    package var longestSide: Int {
        switch self {
        case .jpeg, .plain: 65_500
        case .png: 65_535
        case .webp, .avif: 16_383
        }
    }
}
