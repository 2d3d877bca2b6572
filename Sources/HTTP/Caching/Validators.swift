/// The entity tag and date by which an origin can tell whether an answer is still current (RFC 9110, section 8.8).
package struct Validators: Sendable, Hashable {
    package let entityTag: EntityTag?
    /// The text of the header: some origins compare the text instead of the date.
    package let lastModified: String?

    /// - Parameter headers: Tags or dates that contradict each other count as none.
    package init(_ headers: ResponseHeaders) {
        entityTag = Self.entityTag(of: headers)
        lastModified = Self.lastModified(of: headers)
    }

    package static func entityTag(of headers: ResponseHeaders) -> EntityTag? {
        only("etag", in: headers) == nil ? nil : headers.bytes(of: "etag").flatMap { EntityTag($0) }
    }

    package static func lastModified(of headers: ResponseHeaders) -> String? {
        // Obsolete formats must not be sent (RFC 9110, section 5.6.7). The current format has 29 bytes and begins with a short day.
        only("last-modified", in: headers).flatMap { text in
            text.utf8.count == 29 && text.utf8.dropFirst(3).first == UInt8(ascii: ",") && HTTPDate(text, now: 0) != nil ? text : nil
        }
    }

    package var isEmpty: Bool { entityTag == nil && lastModified == nil }

    /// The headers that ask an origin whether the answer has changed (RFC 9111, section 4.3.1). Both are sent: an old cache on the way may
    /// know dates only. Servers that know tags ignore the date (RFC 9110, section 13.1.3).
    package var conditions: [HeaderField] {
        [
            entityTag.flatMap { HeaderField(name: "If-None-Match", value: $0.text) },
            lastModified.flatMap { HeaderField(name: "If-Modified-Since", value: $0) },
        ].compactMap(\.self)
    }

    private static func only(_ name: StaticString, in headers: ResponseHeaders) -> String? {
        guard headers.has(name) else { return nil }
        let values = headers.values(of: name.description)
        return values.dropFirst().allSatisfy { $0 == values[0] } ? values.first : nil
    }
}

/// An origin's name for one state of a resource (RFC 9110, section 8.8.3).
package struct EntityTag: Sendable, Hashable {
    package let isWeak: Bool
    /// With its quotes.
    package let opaque: String

    /// In bytes. Longer tags are not kept.
    package static let maximumLength = 1024

    /// As a header has it.
    package var text: String { isWeak ? "W/\(opaque)" : opaque }

    /// Nil without quotes, with a quote or a blank within them, and for `w/`. Bytes that are no text are no tag either, because the tag is
    /// sent back as text.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.maximumLength else { return nil }
        isWeak = bytes.starts(with: [0x57, 0x2f])
        let opaque = isWeak ? bytes.dropFirst(2) : bytes[...]
        guard opaque.count >= 2, opaque.first == 0x22, opaque.last == 0x22,
            opaque.dropFirst().dropLast().allSatisfy({ $0 == 0x21 || $0 >= 0x23 && $0 != 0x7f }),
            let text = String(validating: opaque, as: UTF8.self)
        else { return nil }
        self.opaque = text
    }

    /// Whether both tags stand for the same bytes (RFC 9110, section 8.8.3.2).
    package func matchesStrongly(_ other: Self) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

    /// Whether both tags stand for states that mean the same to a reader.
    package func matchesWeakly(_ other: Self) -> Bool { opaque == other.opaque }
}
