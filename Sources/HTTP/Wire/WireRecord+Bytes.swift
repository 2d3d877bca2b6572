internal import GannetBase

/// Exchanges as bytes, for a store that keeps them until an export writes archives of them.
///
/// A byte with the version. The SHA-256 of the body that the caller has, so that no head is joined with another body. How many exchanges; of
/// each its URL, date, cut, protocol, address, two heads, and body. A body that the caller has is named and not repeated.
extension WireRecord {
    private static let version: UInt8 = 1
    /// As many as any download may have hops.
    private static let mostExchanges = 1000
    private static let longestText = 1 << 20
    private static let noBody = [UInt8](repeating: 0, count: 32)
    /// Milliseconds since 1970, up to the year 9999.
    private static let dates: Range<Int64> = 0..<253_402_300_800_000

    /// Exchanges that a store has kept.
    package struct Kept: Sendable {
        /// The SHA-256 of the decoded body; nil where there was none.
        package let body: [UInt8]?
        package let exchanges: [Exchange]
    }

    /// Nil where there are none, and where they take more bytes than `most`.
    /// - Parameter body: The digest of the body that the caller has.
    package func packed(body: SHA256Digest?, atMost most: Int) throws(StorageFailure) -> [UInt8]? {
        try Self.packed(Kept(body: body?.bytes, exchanges: exchanges), atMost: most)
    }

    package static func packed(_ kept: Kept, atMost most: Int) throws(StorageFailure) -> [UInt8]? {
        let exchanges = kept.exchanges
        guard !exchanges.isEmpty, exchanges.count <= mostExchanges else { return nil }
        let size = exchanges.reduce(0) { $0 + $1.requestHead.count + $1.answerHead.count + $1.body.ownCount }
        guard size <= most else { return nil }
        var bytes = [version] + (kept.body ?? noBody)
        bytes.append(compact: UInt64(exchanges.count))
        for exchange in exchanges {
            bytes.append(counted: exchange.url)
            bytes.append(signed: Int64((exchange.date.timeIntervalSince1970 * 1000).rounded()))
            bytes.append(exchange.cut.map { $0 == .length ? 1 : 2 } ?? 0)
            bytes.append(counted: exchange.protocolName)
            bytes.append(counted: exchange.remoteAddress ?? "")
            bytes.append(part: exchange.requestHead)
            bytes.append(part: exchange.answerHead)
            if let body = try exchange.body.own {
                bytes.append(1)
                bytes.append(part: body)
            } else {
                bytes.append(0)
            }
        }
        return bytes.count <= most ? bytes : nil
    }

    /// Nil for bytes that ``packed(_:atMost:)`` cannot have made.
    package static func unpacked(_ bytes: [UInt8]) -> Kept? {
        var reader = ByteReader(bytes)
        guard reader.byte() == version, let body = reader.bytes(noBody.count), let count = reader.count(upTo: mostExchanges), count > 0
        else { return nil }
        var exchanges: [Exchange] = []
        for _ in 0..<count {
            guard let url = reader.text(upTo: longestText), let date = reader.signed(), dates.contains(date), let cut = reader.byte(),
                cut <= 2,
                let protocolName = reader.text(upTo: longestText), let address = reader.text(upTo: longestText),
                let requestHead = reader.part(), let answerHead = reader.part(), let kind = reader.byte(), kind <= 1
            else { return nil }
            var body = Body.downloaded
            if kind == 1 {
                guard let own = reader.part() else { return nil }
                body = .bytes(own)
            }
            exchanges.append(
                Exchange(
                    url: url, date: Date(timeIntervalSince1970: Double(date) / 1000), requestHead: requestHead, answerHead: answerHead,
                    body: body, cut: cut == 0 ? nil : cut == 1 ? .length : .disconnect, protocolName: protocolName,
                    remoteAddress: address.isEmpty ? nil : address))
        }
        return reader.isAtEnd ? Kept(body: body.elementsEqual(noBody) ? nil : Array(body), exchanges: exchanges) : nil
    }
}

extension WireRecord.Body {
    fileprivate var ownCount: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .file(_, let count): count
        case .downloaded: 0
        }
    }

    /// Nil where the caller has them.
    fileprivate var own: [UInt8]? {
        get throws(StorageFailure) {
            switch self {
            case .bytes(let bytes): return bytes
            case .downloaded: return nil
            case .file(let file, let count):
                guard let bytes = Descriptor.contents(ofFile: file.path, count: count) else {
                    let reason = Descriptor.message(errno)
                    throw StorageFailure(.other("The file \(file.path.escapedForDisplay) of an answer cannot be read: \(reason)."))
                }
                return bytes
            }
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(part: [UInt8]) {
        append(compact: UInt64(part.count))
        append(contentsOf: part)
    }
}

extension ByteReader {
    fileprivate mutating func part() -> [UInt8]? { count(upTo: 1 << 30).flatMap { bytes($0) }.map(Array.init) }
}
