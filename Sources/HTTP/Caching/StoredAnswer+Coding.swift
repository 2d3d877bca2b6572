internal import GannetBase

/// The bytes in which an answer's metadata is kept: a version, then its fields in the order below, without names.
extension StoredAnswer {
    /// Each change of the format takes a new number. An answer in another version is not read but fetched again.
    static let formatVersion: UInt8 = 3

    /// In bytes. A redirect may lead to a URL longer than a canonical one may be.
    private static let maximumURL = 16 * 1024

    private enum Flag {
        static let mustRevalidate: UInt8 = 1
        static let isImmutable: UInt8 = 2
        static let isForEverybody: UInt8 = 4
        /// The URL that answered is the canonical one.
        static let isAtHome: UInt8 = 8
        static let all: UInt8 = 15
    }

    /// A moment is written as its distance from another, with wrapping: any two have a distance, and near ones a short one.
    package var encoded: [UInt8] {
        var result: [UInt8] = []
        result.append(Self.formatVersion)
        result.append(
            (freshness.mustRevalidate ? Flag.mustRevalidate : 0) | (freshness.isImmutable ? Flag.isImmutable : 0)
                | (isForEverybody ? Flag.isForEverybody : 0) | (finalURL == canonicalURL ? Flag.isAtHome : 0))
        result.append(freshness.source.rawValue)
        result.append(compact: UInt64(clamping: status))
        result += digest.bytes
        result.append(compact: UInt64(clamping: byteCount))
        result.append(signed: receivedAt.millisecondsSince1970)
        for (moment, other) in [
            (requestedAt, receivedAt), (freshness.generatedAt, receivedAt), (freshness.freshUntil, receivedAt),
            (freshness.staleWhileRevalidateUntil, freshness.freshUntil), (freshness.staleIfErrorUntil, freshness.freshUntil),
        ] {
            result.append(signed: moment.millisecondsSince1970 &- other.millisecondsSince1970)
        }
        result.append(compact: UInt64(headers.fields.count))
        for field in headers.fields {
            result.append(field.header.rawValue)
            result.append(counted: field.value)
        }
        result.append(counted: canonicalURL)
        if finalURL != canonicalURL { result.append(counted: finalURL) }
        return result
    }

    /// Nil for bytes that `encoded` cannot have made: another version, too few, too many, or other bytes.
    package init?(decoding bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard reader.byte() == Self.formatVersion, let flags = reader.byte(), flags & ~Flag.all == 0,
            let source = reader.byte().flatMap(Freshness.Source.init), let status = reader.count(upTo: 999),
            let digest = reader.bytes(32).flatMap({ SHA256Digest(bytes: Array($0)) }), let byteCount = reader.count(upTo: .max),
            let receivedAt = reader.moment(after: 0), let requestedAt = reader.moment(after: receivedAt),
            let generatedAt = reader.moment(after: receivedAt), let freshUntil = reader.moment(after: receivedAt),
            let whileAsking = reader.moment(after: freshUntil), let onError = reader.moment(after: freshUntil),
            whileAsking >= freshUntil, onError >= freshUntil,
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
            isForEverybody: flags & Flag.isForEverybody != 0, digest: digest, byteCount: Int64(byteCount))
    }

    /// Each change of this format takes a new number. It differs from the numbers of `encoded`.
    static let messageVersion: UInt8 = 2

    /// The metadata with all headers: a version, the bytes of `encoded`, and the lines.
    package var encodedWithMessage: [UInt8] {
        let short = encoded
        var result = [Self.messageVersion]
        result.append(compact: UInt64(short.count))
        result += short
        result.append(message == nil ? 0 : 1)
        return result + (message?.bytes ?? [])
    }

    /// Nil for bytes that `encodedWithMessage` cannot have made, and for another version.
    package init?(decodingWithMessage bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard reader.byte() == Self.messageVersion, let count = reader.count(upTo: bytes.count), let short = reader.bytes(count),
            let mark = reader.byte(), mark <= 1, mark == 1 || reader.isAtEnd
        else { return nil }
        self.init(decoding: Array(short))
        guard mark == 1 else { return }
        guard let message = ResponseHeaders(lines: Array(reader.all())).ifFew else { return nil }
        self.message = message
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
