/// What bytes that are no known image look like.
package enum Resemblance: String, Sendable, Hashable, CaseIterable {
    case empty, html, xml, json, pdf, text, archive
    /// A picture of a kind that is not told here, such as HEIC or JPEG XL.
    case otherImage
    /// A film or sound.
    case media
    case binary

    var clause: String {
        switch self {
        case .empty: "it is empty"
        case .html: "it looks like HTML"
        case .xml: "it looks like XML"
        case .json: "it looks like JSON"
        case .pdf: "it looks like PDF"
        case .text: "it looks like plain text"
        case .archive: "it looks like compressed data"
        case .otherImage: "it looks like a picture of a format that is not supported"
        case .media: "it looks like audio or video"
        case .binary: "its first bytes are those of no known format"
        }
    }
}
