internal import GannetBase
internal import GannetHTTP

/// A record before it is packed: its head, the beginning of its block, and the rest of the block.
struct WARCRecord: Sendable {
    /// The record's head, and the head of HTTP that its block begins with.
    let beginning: [UInt8]
    let content: ArchiveContent?
    /// The values of the record's line in the index; nil for records that no reader looks up.
    let capture: Capture?

    /// A block ends with these bytes, which do not count as its length.
    static let end = Array("\r\n\r\n".utf8)
    static let version = Array("WARC/1.1\r\n".utf8)

    init(_ fields: [(String, String)], block: [UInt8], content: ArchiveContent? = nil, capture: Capture? = nil) {
        var bytes = Self.version
        for (name, value) in fields { bytes += "\(name): \(value)\r\n".utf8 }
        bytes += "Content-Length: \(block.count + (content?.count ?? 0))\r\n\r\n".utf8
        beginning = bytes + block
        self.content = content
        self.capture = capture
    }

    /// The first record of a file.
    init(ofFile file: String, _ id: UUID, _ date: String, information: [(name: String, value: String)]) throws {
        var block: [UInt8] = []
        for (name, value) in information + [
            (name: "format", value: "WARC File Format 1.1"),
            (name: "conformsTo", value: "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
        ] { block += "\(try WARCRecord.token(name)): \(try WARCRecord.line(value))\r\n".utf8 }
        let fields = [
            ("WARC-Type", "warcinfo"), ("WARC-Record-ID", Self.id(id)), ("WARC-Date", date), ("WARC-Filename", file),
            ("WARC-Block-Digest", Self.digest(SHA256Digest(of: block).bytes)), ("Content-Type", "application/warc-fields"),
        ]
        self.init(fields, block: block)
    }

    /// Hands over the packed record a piece at a time.
    func pack(by packer: GzipPacker, _ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        packer.begin()
        try beginning.withUnsafeBytes { try packer.add($0, take) }
        try content?.read { try packer.add($0, take) }
        try Self.end.withUnsafeBytes { try packer.add($0, take) }
        try packer.end(take)
    }

    static func id(_ id: UUID) -> String { "<urn:uuid:\(id.uuidString.lowercased())>" }
    static func digest(_ sha256: [UInt8]) -> String { "sha256:\(sha256.hexadecimal)" }

    /// `2026-01-31T12:00:00.123Z`. Times before 1970 and after the year 9999 become the nearest ones that have four digits.
    static func date(_ date: Date) -> String {
        UTCTime.text(Int((min(max(date.timeIntervalSince1970, 0), 253_402_300_799) * 1000).rounded()))
    }

    /// `20260131120000`: the first fourteen digits of a date.
    static func timestamp(_ date: String) -> String {
        String(decoding: date.utf8.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.prefix(14), as: UTF8.self)
    }
}

/// The caller's values cannot stand in a record. Nothing was written, and others can be.
package struct UnfitForArchive: Error {
    let sentence: String

    init(_ sentence: String) { self.sentence = sentence }
}

/// The values of fields that come from elsewhere.
extension WARCRecord {
    static let longestURL = 64 << 10

    /// A URL that stands in one line and in one word.
    static func url(_ url: String) throws -> String {
        guard url.utf8.count <= longestURL else {
            throw UnfitForArchive(
                "A URL of \(url.utf8.count) bytes is longer than the \(longestURL) bytes that a record may have.")
        }
        guard !url.isEmpty, !url.utf8.contains(where: { $0.isControl || $0 == 0x20 }), url.utf8.contains(UInt8(ascii: ":")) else {
            throw UnfitForArchive(
                "The URL \(url.debugDescription) cannot stand in a record. Blanks and control characters have to be escaped.")
        }
        return url
    }

    /// A text that stands in one line.
    static func line(_ text: String) throws -> String {
        guard text.utf8.count <= 4096, !text.utf8.contains(where: \.isControl) else {
            throw UnfitForArchive("The value \(text.prefix(100).debugDescription) cannot stand in a record.")
        }
        return text
    }

    /// A name that stands before a colon.
    static func token(_ text: String) throws -> String {
        guard 1...100 ~= text.utf8.count, text.utf8.allSatisfy({ $0.isPlain || "./:%+".utf8.contains($0) }) else {
            throw UnfitForArchive("The value \(text.prefix(100).debugDescription) cannot stand in a record.")
        }
        return text
    }
}

/// The parts of an exchange's records. Only the writer knows whether an equal body came before.
struct MadeExchange: Sendable {
    /// The record that a revisit refers to.
    struct Original: Sendable {
        let id: UUID
        let date: String
        let url: String
    }

    let exchange: WARCExchange
    /// The record's id first, then the fields that a request's record has too.
    let fields: [(String, String)]
    /// Nil for a body alone.
    let head: HTTPHead?
    /// Of a body alone.
    let contentType: String
    /// Nil for a 304.
    let payloadDigest: [UInt8]?
    let blockDigest: [UInt8]?
    let request: WARCRecord?
    let original: Original

    /// Reads the body for its digests, and writes nothing.
    init(_ exchange: WARCExchange, makeID: () -> UUID) throws {
        let original = Original(id: makeID(), date: WARCRecord.date(exchange.date), url: try WARCRecord.url(exchange.url))
        var fields = [("WARC-Record-ID", WARCRecord.id(original.id)), ("WARC-Date", original.date), ("WARC-Target-URI", original.url)]
        if let address = exchange.remoteAddress { fields.append(("WARC-IP-Address", try WARCRecord.token(address))) }
        for name in exchange.protocols { fields.append(("WARC-Protocol", try WARCRecord.token(name))) }
        let head = try exchange.responseHead.map { try HTTPHead.response($0, bodyCount: exchange.body.count) }
        guard head?.status != "304" || exchange.body.count == 0 else { throw UnfitForArchive("A 304 has a body.") }
        let digests = try head?.status == "304" ? nil : Self.digests(exchange, after: head)
        (payloadDigest, blockDigest) = (digests?.payload, digests?.block)
        contentType = try WARCRecord.line(exchange.contentType ?? "application/octet-stream")
        request = try exchange.requestHead.map { try Self.request($0, makeID(), of: original, fields) }
        (self.exchange, self.original, self.head, self.fields) = (exchange, original, head, fields)
    }

    private static func request(
        _ wire: [UInt8], _ id: UUID, of response: Original, _ shared: [(String, String)]
    ) throws -> WARCRecord {
        let block = try HTTPHead.request(wire)
        var fields = [("WARC-Type", "request"), ("WARC-Record-ID", WARCRecord.id(id))] + shared.dropFirst()
        fields.append(("WARC-Concurrent-To", WARCRecord.id(response.id)))
        fields.append(("WARC-Block-Digest", WARCRecord.digest(SHA256Digest(of: block).bytes)))
        fields.append(("Content-Type", "application/http; msgtype=request"))
        return WARCRecord(fields, block: block)
    }

    /// The digests of the body, and of the block that it ends.
    private static func digests(_ exchange: WARCExchange, after head: HTTPHead?) throws -> (payload: [UInt8], block: [UInt8]) {
        let known = exchange.payloadDigest
        if let known {
            guard known.count == 32 else { throw UnfitForArchive("A digest has \(known.count) bytes, and sha256 has 32.") }
            if head == nil { return (known, known) }
        }
        let (payload, block) = (SHA256Hasher(), SHA256Hasher())
        head?.bytes.withUnsafeBytes { block.update($0) }
        try exchange.body.read { bytes in
            if known == nil { payload.update(bytes) }
            block.update(bytes)
        }
        return (known ?? payload.finish().bytes, block.finish().bytes)
    }

    private static let profiles = "http://netpreserve.org/warc/1.1/revisit/"

    /// The digest of a body that may revisit another, or be revisited. A reader shows no body for a revisit that is a redirect. Without a whole body there
    /// is nothing to compare, and without a head readers find none.
    var comparableDigest: [UInt8]? {
        guard let head, !head.status.hasPrefix("3"), exchange.body.count > 0, exchange.cut == nil else { return nil }
        return payloadDigest
    }

    /// The response, the revisit or the body alone, and then the request.
    func records(revisiting earlier: Original?) -> [WARCRecord] {
        let isRevisit = earlier != nil || head?.status == "304"
        var fields = [("WARC-Type", head == nil ? "resource" : isRevisit ? "revisit" : "response")] + self.fields
        if let earlier {
            fields += [("WARC-Profile", Self.profiles + "identical-payload-digest"), ("WARC-Refers-To", WARCRecord.id(earlier.id))]
            fields += [("WARC-Refers-To-Target-URI", earlier.url), ("WARC-Refers-To-Date", earlier.date)]
        } else if isRevisit {
            fields.append(("WARC-Profile", Self.profiles + "server-not-modified"))
        }
        let digest = payloadDigest.map(WARCRecord.digest)
        if let digest { fields.append(("WARC-Payload-Digest", digest)) }
        // The digest is that of a whole block, and a revisit has a shorter one.
        if let blockDigest, !isRevisit { fields.append(("WARC-Block-Digest", WARCRecord.digest(blockDigest))) }
        if let cut = exchange.cut { fields.append(("WARC-Truncated", cut.rawValue)) }
        fields.append(("Content-Type", head == nil ? contentType : "application/http; msgtype=response"))
        let type = head.map { $0.mime ?? "unk" } ?? String(contentType.prefix { $0 != ";" && $0 != " " })
        let capture = Capture(
            url: original.url, timestamp: WARCRecord.timestamp(original.date), mime: isRevisit ? "warc/revisit" : type,
            status: isRevisit ? "-" : head?.status ?? "-", digest: digest)
        let record = WARCRecord(fields, block: head?.bytes ?? [], content: isRevisit ? nil : exchange.body, capture: capture)
        return [record] + (request.map { [$0] } ?? [])
    }
}
