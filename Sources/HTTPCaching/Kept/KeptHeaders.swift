package import HTTPEngine

/// The headers that are kept with an answer.
package struct KeptHeaders: Sendable, Hashable {
    /// The most bytes that they may have together, with two for each besides its value.
    package static let maximumBytes = 4096

    /// The values of each, in the order of `KeptHeader` and, of one name, in the order they came.
    let fields: [Field]

    struct Field: Sendable, Hashable {
        let header: KeptHeader
        let value: String
    }

    /// Nil when those cannot be kept without which the answer must not be. Others that cannot are left out.
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

    /// For what was kept; nil unless it could have come of an answer.
    init?(kept fields: [Field]) {
        let isInOrder = zip(fields, fields.dropFirst()).allSatisfy { $0.header.rawValue <= $1.header.rawValue }
        guard isInOrder, Self.bytes(fields.map(\.value)) <= Self.maximumBytes, fields.allSatisfy({ Self.isPlain($0.value) }) else {
            return nil
        }
        self.fields = fields
    }

    /// As an answer would have them.
    package var headers: ResponseHeaders { ResponseHeaders(fields.map { ($0.header.name, $0.value) }) }

    /// Each value has an allocation of its own.
    var variableSize: Int { fields.reduce(0) { $0 + $1.value.utf8.count + 64 } }

    package var validators: Validators { Validators(headers) }

    /// Those of a 304 in place of the kept ones of the same names (RFC 9111, section 3.2), and behind them the kept ones it does not mention.
    ///
    /// What a 304 says of the length, the encoding or the part that came is not about the body that is kept; nothing of it is.
    func updated(by news: ResponseHeaders) -> ResponseHeaders {
        let missing = fields.filter { news[$0.header.name] == nil }
        return news.adding(missing.map { ($0.header.name, $0.value) })
    }

    private static func bytes(_ values: [String]) -> Int { values.reduce(0) { $0 + $1.utf8.count + 2 } }

    private static func values(of header: KeptHeader, _ head: AnswerHead, _ receivedAt: Moment) -> [String] {
        switch header {
        // Byte for byte, or not at all: a tag that was repaired is another.
        case .eTag: Validators(head.headers).entityTag.map { [$0.text] } ?? []
        case .lastModified: dependableDate(head, receivedAt)
        default: head.headers[header.name] == nil ? [] : head.headers.values(of: header.name)
        }
    }

    /// `Last-Modified`, if the answer was made after the second that it names: what came later in that second would have the same date (RFC
    /// 9110, section 8.8.2.2), and one from the future says nothing at all.
    private static func dependableDate(_ head: AnswerHead, _ receivedAt: Moment) -> [String] {
        guard let text = Validators(head.headers).lastModified, let modified = HTTPDate(text, now: receivedAt.secondsSince1970) else {
            return []
        }
        let made = AnswerAge.date(of: head.headers, receivedAt: receivedAt)?.secondsSince1970 ?? receivedAt.secondsSince1970
        return modified.secondsSince1970 < made ? [text] : []
    }

    /// What could end its line, or a reader's, is not kept.
    private static func isPlain(_ value: String) -> Bool { value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 } }
}
