internal import HTTPEngine

/// The form in which an answer's metadata is kept: a version byte, then its fields in the order below, without names.
extension StoredAnswer {
    /// A change of the form is a new number; what has another is not read but fetched again.
    static let formatVersion: UInt8 = 1

    /// The longest URL, in bytes: what a redirect leads to has no canonical form's limit.
    private static let maximumURL = 16 * 1024

    private enum Flag {
        static let mustRevalidate: UInt8 = 1
        static let isImmutable: UInt8 = 2
        static let isForEverybody: UInt8 = 4
        /// The URL that answered is the canonical form.
        static let isAtHome: UInt8 = 8
        static let all: UInt8 = 15
    }

    /// Moments are told by their distance from another, wrapping: any two have one, and it is short when they are near.
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.byte(Self.formatVersion)
        writer.byte(
            (freshness.mustRevalidate ? Flag.mustRevalidate : 0) | (freshness.isImmutable ? Flag.isImmutable : 0)
                | (isForEverybody ? Flag.isForEverybody : 0) | (finalURL == canonicalURL ? Flag.isAtHome : 0))
        writer.byte(freshness.source.rawValue)
        writer.unsigned(UInt64(clamping: status))
        writer.raw(digest.bytes)
        writer.unsigned(UInt64(clamping: byteCount))
        writer.signed(receivedAt.millisecondsSince1970)
        for (moment, other) in [
            (requestedAt, receivedAt), (freshness.generatedAt, receivedAt), (freshness.freshUntil, receivedAt),
            (freshness.staleWhileRevalidateUntil, freshness.freshUntil), (freshness.staleIfErrorUntil, freshness.freshUntil),
        ] {
            writer.signed(moment.millisecondsSince1970 &- other.millisecondsSince1970)
        }
        writer.unsigned(UInt64(selecting.names.count))
        for name in selecting.names { writer.text(name) }
        if !selecting.names.isEmpty { writer.raw(variant.bytes) }
        writer.unsigned(UInt64(headers.fields.count))
        for field in headers.fields {
            writer.byte(field.header.rawValue)
            writer.text(field.value)
        }
        writer.text(canonicalURL)
        if finalURL != canonicalURL { writer.text(finalURL) }
        return writer.bytes
    }

    /// Nil for anything that `encoded` does not give: another version, a part, more, other bytes.
    package init?(decoding bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard reader.byte() == Self.formatVersion, let flags = reader.byte(), flags & ~Flag.all == 0,
            let source = reader.byte().flatMap(Freshness.Source.init), let status = reader.count(upTo: 999),
            let digest = reader.raw(32).flatMap({ SHA256Digest(bytes: $0) }), let byteCount = reader.count(upTo: .max),
            let receivedAt = reader.moment(after: 0), let requestedAt = reader.moment(after: receivedAt),
            let generatedAt = reader.moment(after: receivedAt), let freshUntil = reader.moment(after: receivedAt),
            let whileAsking = reader.moment(after: freshUntil), let onError = reader.moment(after: freshUntil),
            whileAsking >= freshUntil, onError >= freshUntil,
            let selecting = Self.readSelecting(&reader),
            let variant = selecting == .none ? .only : reader.raw(16).flatMap({ VariantKey(kept: $0) }),
            let headers = Self.readHeaders(&reader), let canonicalURL = reader.text(upTo: Self.maximumURL),
            let finalURL = flags & Flag.isAtHome != 0 ? canonicalURL : reader.text(upTo: Self.maximumURL), reader.isAtEnd,
            (finalURL == canonicalURL) == (flags & Flag.isAtHome != 0)
        else { return nil }
        self.init(
            canonicalURL: canonicalURL, finalURL: finalURL, status: status, headers: headers,
            requestedAt: Moment(millisecondsSince1970: requestedAt), receivedAt: Moment(millisecondsSince1970: receivedAt),
            freshness: Freshness(
                generatedAt: Moment(millisecondsSince1970: generatedAt), freshUntil: Moment(millisecondsSince1970: freshUntil),
                staleWhileRevalidateUntil: Moment(millisecondsSince1970: whileAsking),
                staleIfErrorUntil: Moment(millisecondsSince1970: onError), mustRevalidate: flags & Flag.mustRevalidate != 0,
                isImmutable: flags & Flag.isImmutable != 0, source: source),
            selecting: selecting, variant: variant, isForEverybody: flags & Flag.isForEverybody != 0, digest: digest,
            byteCount: Int64(byteCount))
    }

    private static func readSelecting(_ reader: inout ByteReader) -> SelectingHeaders? {
        guard let count = reader.count(upTo: SelectingHeaders.maximumCount) else { return nil }
        var names: [String] = []
        for _ in 0..<count {
            guard let name = reader.text(upTo: 256) else { return nil }
            names.append(name)
        }
        return SelectingHeaders(kept: names)
    }

    private static func readHeaders(_ reader: inout ByteReader) -> KeptHeaders? {
        guard let count = reader.count(upTo: KeptHeaders.maximumBytes) else { return nil }
        var fields: [KeptHeaders.Field] = []
        for _ in 0..<count {
            guard let header = reader.byte().flatMap(KeptHeader.init), let value = reader.text(upTo: KeptHeaders.maximumBytes) else {
                return nil
            }
            fields.append(KeptHeaders.Field(header: header, value: value))
        }
        return KeptHeaders(kept: fields)
    }
}

extension ByteReader {
    fileprivate mutating func moment(after other: Int64) -> Int64? { signed().map { other &+ $0 } }
}
