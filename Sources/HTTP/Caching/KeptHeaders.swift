/// The headers that are kept with each answer, also in an outcome in Redis: some decide about its use, the others describe the body.
///
/// The list is short, because an outcome has to be small. The tiers in memory and on disk keep all headers beside it: see
/// `ResponseHeaders.storable`. `Age` and `Date` are used up in the answer's freshness. `Content-Encoding` and `Content-Length` describe packed bytes.
/// A cookie belongs to one visitor.
package enum KeptHeader: UInt8, Sendable, Hashable, CaseIterable {
    // The numbers are kept with answers, so a number is never reused. The order is that of importance.
    case cacheControl = 1
    case vary, expires, eTag, lastModified, contentType, contentLanguage, contentDisposition, contentLocation, xRobotsTag, link

    package var name: String { Self.names[Int(rawValue) - 1] }

    private static let names = [
        "cache-control", "vary", "expires", "etag", "last-modified", "content-type", "content-language", "content-disposition",
        "content-location", "x-robots-tag", "link",
    ]

    /// Whether the header decides about the use of the answer when a 304 has it judged again. Without it the answer is not kept.
    var isIndispensable: Bool { self == .cacheControl || self == .vary || self == .expires }
}

/// The headers of one answer that are kept with it.
package struct KeptHeaders: Sendable, Hashable {
    /// The most bytes of all values together; each value counts two bytes more than its length.
    package static let maximumBytes = 4096

    /// In the order of `KeptHeader`; values of one name in the order they came.
    let fields: [Field]

    struct Field: Sendable, Hashable {
        let header: KeptHeader
        let value: String
    }

    /// Nil when an indispensable header is too long or has control characters. Another header of that kind is left out.
    init?(of head: AnswerHead, receivedAt: Moment) {
        let dropped = head.namesNotKept
        var fields: [Field] = []
        var left = Self.maximumBytes
        for header in KeptHeader.allCases {
            if !header.isIndispensable, dropped.contains(header.name) { continue }
            let values = Self.values(of: header, head, receivedAt)
            let bytes = Self.bytes(values)
            if bytes <= left, values.allSatisfy(Self.isPlain) {
                fields += values.map { Field(header: header, value: $0) }
                left -= bytes
            } else if header.isIndispensable {
                return nil
            }
        }
        self.fields = fields
    }

    /// Reads headers that were kept; nil unless an answer could have had them.
    init?(kept fields: [Field]) {
        let isInOrder = zip(fields, fields.dropFirst()).allSatisfy { $0.header.rawValue <= $1.header.rawValue }
        guard isInOrder, Self.bytes(fields.map(\.value)) <= Self.maximumBytes, fields.allSatisfy({ Self.isPlain($0.value) }) else {
            return nil
        }
        self.fields = fields
    }

    /// In the form of an answer's headers.
    package var headers: ResponseHeaders { ResponseHeaders(fields.map { ($0.header.name, $0.value) }) }

    /// The bytes of memory that the values take; each has an allocation of its own.
    var variableSize: Int { fields.reduce(0) { $0 + $1.value.utf8.count + 64 } }

    package var validators: Validators { Validators(headers) }

    var haveValidators: Bool { fields.contains { $0.header == .eTag || $0.header == .lastModified } && !validators.isEmpty }

    /// The headers of a 304 replace the kept ones of the same names (RFC 9111, section 3.2). The other kept headers stay.
    ///
    /// A length, an encoding or a range in a 304 is not about the kept body, and is not used.
    func updated(by news: ResponseHeaders) -> ResponseHeaders {
        let missing = fields.filter { news[$0.header.name] == nil }
        return news.adding(missing.map { ($0.header.name, $0.value) })
    }

    private static func bytes(_ values: [String]) -> Int { values.reduce(0) { $0 + $1.utf8.count + 2 } }

    private static func values(of header: KeptHeader, _ head: AnswerHead, _ receivedAt: Moment) -> [String] {
        switch header {
        // A repaired tag would be a different tag, so it is kept byte for byte or not at all.
        case .eTag: Validators(head.headers).entityTag.map { [$0.text] } ?? []
        case .lastModified: dependableDate(head, receivedAt)
        default: head.headers.values(of: header.name)
        }
    }

    /// `Last-Modified`, if the answer was made after the second that it names: a later change within that second would have the same date
    /// (RFC 9110, section 8.8.2.2). A date in the future means nothing.
    private static func dependableDate(_ head: AnswerHead, _ receivedAt: Moment) -> [String] {
        guard let text = Validators(head.headers).lastModified, let modified = HTTPDate(text, now: receivedAt.secondsSince1970) else {
            return []
        }
        let made = head.headers.date(receivedAt: receivedAt)?.secondsSince1970 ?? receivedAt.secondsSince1970
        return modified.secondsSince1970 < made ? [text] : []
    }

    /// Whether the value has no control character that could end its line.
    private static func isPlain(_ value: String) -> Bool { value.utf8.allSatisfy(\.isValueByte) }
}
