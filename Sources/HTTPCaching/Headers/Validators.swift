package import HTTPEngine

/// By what an origin can tell whether an answer is still the current one (RFC 9110, section 8.8).
package struct Validators: Sendable, Hashable {
    package let entityTag: EntityTag?
    /// As it was written: some origins compare the text.
    package let lastModified: String?

    /// - Parameter headers: Where there are several tags or dates that differ, there is none.
    package init(_ headers: ResponseHeaders) {
        entityTag = Self.only("etag", in: headers) == nil ? nil : headers.bytes(of: "etag").flatMap { EntityTag($0) }
        // Obsolete formats must not be sent (RFC 9110, section 5.6.7), and this is the one of 29 bytes that begins with a short day.
        lastModified = Self.only("last-modified", in: headers).flatMap { text in
            text.utf8.count == 29 && text.utf8.dropFirst(3).first == UInt8(ascii: ",") && HTTPDate(text, now: 0) != nil ? text : nil
        }
    }

    package var isEmpty: Bool { entityTag == nil && lastModified == nil }

    /// What makes a request for the URL one whether it has changed (RFC 9111, section 4.3.1): both, since an old cache on the way may know
    /// dates alone, and who knows tags ignores the date (RFC 9110, section 13.1.3).
    package var conditions: [HeaderField] {
        [
            entityTag.flatMap { HeaderField(name: "If-None-Match", value: $0.text) },
            lastModified.flatMap { HeaderField(name: "If-Modified-Since", value: $0) },
        ].compactMap(\.self)
    }

    private static func only(_ name: StaticString, in headers: ResponseHeaders) -> String? {
        guard headers.has(name) else { return nil }
        let values = Set(headers.values(of: name.description))
        return values.count == 1 ? values.first : nil
    }
}
