/// A header of an answer that is worth keeping: what decides about its use, and what tells what the body is.
///
/// RFC 9111 has caches keep all (section 3.1), so that others can make something of them. Here a body is handed out and not a message, and a kept
/// answer has to be small. `Age` and `Date` are used up in its freshness; `Content-Encoding` and `Content-Length` are about bytes that were unpacked since;
/// a cookie is one visitor's.
package enum KeptHeader: UInt8, Sendable, Hashable, CaseIterable {
    // The numbers are kept with answers: they are never given away again. The order is that of importance.
    case cacheControl = 1
    case vary = 2
    case expires = 3
    case eTag = 4
    case lastModified = 5
    case contentType = 6
    case contentLanguage = 7
    case contentDisposition = 8
    case contentLocation = 9
    case xRobotsTag = 10
    case link = 11

    package var name: String {
        switch self {
        case .cacheControl: "cache-control"
        case .vary: "vary"
        case .expires: "expires"
        case .eTag: "etag"
        case .lastModified: "last-modified"
        case .contentType: "content-type"
        case .contentLanguage: "content-language"
        case .contentDisposition: "content-disposition"
        case .contentLocation: "content-location"
        case .xRobotsTag: "x-robots-tag"
        case .link: "link"
        }
    }

    /// Whether an answer without it would be used otherwise than its origin wants, as soon as a 304 has it judged anew.
    var isIndispensable: Bool { self == .cacheControl || self == .vary || self == .expires }
}
