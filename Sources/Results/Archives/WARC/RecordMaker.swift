internal import GannetBase

/// Makes records of exchanges. It reads a body for its digests and writes nothing.
struct RecordMaker: Sendable {
    let options: WARCOptions
    let algorithm: DigestAlgorithm
    let makeHasher: @Sendable () -> any ArchiveHasher
    let makeID: @Sendable () -> UUID

    // MARK: Exchanges

    func make(_ exchange: WARCExchange) throws -> MadeExchange {
        let url = try WARCValue.url(exchange.url)
        let status = try HTTPHead.response(exchange.responseHead, bodyCount: nil).status
        let isNotModified = status == "304"
        guard !isNotModified || exchange.body.count == 0 else { throw ArchiveError.unfit("A 304 has a body.") }
        let response = try HTTPHead.response(exchange.responseHead, bodyCount: isNotModified ? nil : exchange.body.count)
        let (id, time) = (makeID(), WARCTime(exchange.date))
        let digests = try isNotModified ? (payload: [], block: nil) : digests(exchange.body, exchange.payloadDigest, after: response.bytes)

        var fields = [("WARC-Record-ID", WARCRecord.id(id)), ("WARC-Date", time.text), ("WARC-Target-URI", url)]
        if let address = exchange.remoteAddress { fields.append(("WARC-IP-Address", try WARCValue.token(address))) }
        for name in exchange.protocols { fields.append(("WARC-Protocol", try WARCValue.token(name))) }

        // A reader shows no body for a revisit that is a redirect. Without a whole body there is nothing to compare.
        let isComparable = !isNotModified && exchange.body.count > 0 && exchange.truncation == nil && !status.hasPrefix("3")
        return MadeExchange(
            fields: fields, response: response, body: exchange.body, blockDigest: digests.block.map(algorithm.text),
            payloadDigest: isNotModified ? exchange.confirms?.payloadDigest.map(algorithm.text) : algorithm.text(digests.payload),
            digest: isComparable ? digests.payload : nil, isNotModified: isNotModified, confirms: try exchange.confirms.map(original),
            truncation: exchange.truncation, request: try exchange.requestHead.map { try request($0, of: id, fields) },
            original: PayloadMemory.Original(recordID: id, time: time, url: url), contentType: nil)
    }

    func make(_ resource: WARCResource) throws -> MadeExchange {
        let url = try WARCValue.url(resource.url)
        let (id, time) = (makeID(), WARCTime(resource.date))
        let payload = try digests(resource.body, resource.payloadDigest, after: nil).payload
        return MadeExchange(
            fields: [("WARC-Record-ID", WARCRecord.id(id)), ("WARC-Date", time.text), ("WARC-Target-URI", url)], response: nil,
            body: resource.body, blockDigest: algorithm.text(payload), payloadDigest: algorithm.text(payload), digest: nil,
            isNotModified: false, confirms: nil, truncation: nil, request: nil,
            original: PayloadMemory.Original(recordID: id, time: time, url: url),
            contentType: try WARCValue.line(resource.contentType ?? "application/octet-stream"))
    }

    private func original(_ reference: WARCReference) throws -> MadeExchange.Confirmed {
        if let digest = reference.payloadDigest, digest.count != algorithm.length {
            throw ArchiveError.unfit("A digest has a wrong length.")
        }
        return MadeExchange.Confirmed(url: try WARCValue.url(reference.url), time: WARCTime(reference.date), recordID: reference.recordID)
    }

    private func request(_ wire: [UInt8], of response: UUID, _ shared: [(String, String)]) throws -> WARCRecord {
        let head = try HTTPHead.request(wire, hidden: options.hiddenRequestFields)
        var fields = [("WARC-Type", "request"), ("WARC-Record-ID", WARCRecord.id(makeID()))] + shared.dropFirst()
        fields.append(("WARC-Concurrent-To", WARCRecord.id(response)))
        if options.hasBlockDigests { fields.append(("WARC-Block-Digest", algorithm.text(digest(of: head.bytes)))) }
        fields.append(("Content-Type", "application/http; msgtype=request"))
        return WARCRecord(fields, block: head.bytes)
    }

    // MARK: Files

    /// The first record of a file.
    func information(file: String, _ time: WARCTime) throws -> WARCRecord {
        var block: [UInt8] = []
        for (name, value) in options.information + [
            (name: "format", value: "WARC File Format 1.1"),
            (name: "conformsTo", value: "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
        ] { block += "\(try WARCValue.token(name)): \(try WARCValue.line(value))\r\n".utf8 }
        var fields = [("WARC-Type", "warcinfo"), ("WARC-Record-ID", WARCRecord.id(makeID())), ("WARC-Date", time.text)]
        fields += [
            ("WARC-Filename", file), ("WARC-Block-Digest", algorithm.text(digest(of: block))), ("Content-Type", "application/warc-fields"),
        ]
        return WARCRecord(fields, block: block)
    }

    // MARK: Digests

    /// - Parameter head: Nil leaves the block's digest out.
    private func digests(_ body: ArchiveContent, _ known: [UInt8]?, after head: [UInt8]?) throws -> (payload: [UInt8], block: [UInt8]?) {
        if let known, known.count != algorithm.length {
            throw ArchiveError.unfit("A digest has \(known.count) bytes, and \(algorithm.rawValue) has \(algorithm.length).")
        }
        var payload = known == nil ? makeHasher() : nil
        var block = head == nil || !options.hasBlockDigests ? nil : makeHasher()
        head?.withUnsafeBytes { block?.update($0) }
        if payload != nil || block != nil {
            try body.read { bytes in
                payload?.update(bytes)
                block?.update(bytes)
            }
        }
        return (known ?? payload?.finish() ?? [], block?.finish())
    }

    func digest(of bytes: [UInt8]) -> [UInt8] {
        var hasher = makeHasher()
        bytes.withUnsafeBytes { hasher.update($0) }
        return hasher.finish()
    }
}

/// The parts of an exchange's records. Only the writer knows whether an equal body came before.
struct MadeExchange: Sendable {
    struct Confirmed: Sendable {
        let url: String
        let time: WARCTime
        let recordID: UUID?
    }

    /// The record's id first, then the fields that a request's record has too.
    let fields: [(String, String)]
    /// Nil for a resource.
    let response: HTTPHead?
    let body: ArchiveContent
    let blockDigest: String?
    let payloadDigest: String?
    /// Of a body that may revisit another, or be revisited.
    let digest: [UInt8]?
    let isNotModified: Bool
    let confirms: Confirmed?
    let truncation: WARCTruncation?
    let request: WARCRecord?
    let original: PayloadMemory.Original
    let contentType: String?

    private static let profiles = "http://netpreserve.org/warc/1.1/revisit/"

    /// The response, the revisit or the resource, and then the request.
    func records(revisiting earlier: PayloadMemory.Original?) -> [WARCRecord] {
        let isRevisit = isNotModified || earlier != nil
        var fields = [("WARC-Type", response == nil ? "resource" : isRevisit ? "revisit" : "response")] + self.fields
        if let earlier {
            fields += [("WARC-Profile", Self.profiles + "identical-payload-digest"), ("WARC-Refers-To", WARCRecord.id(earlier.recordID))]
            fields += [("WARC-Refers-To-Target-URI", earlier.url), ("WARC-Refers-To-Date", earlier.time.text)]
        } else if isNotModified {
            fields.append(("WARC-Profile", Self.profiles + "server-not-modified"))
            if let id = confirms?.recordID { fields.append(("WARC-Refers-To", WARCRecord.id(id))) }
            if let confirms { fields += [("WARC-Refers-To-Target-URI", confirms.url), ("WARC-Refers-To-Date", confirms.time.text)] }
        }
        if let payloadDigest { fields.append(("WARC-Payload-Digest", payloadDigest)) }
        // The digest is that of a whole block, and a revisit has a shorter one.
        if let blockDigest, !isRevisit { fields.append(("WARC-Block-Digest", blockDigest)) }
        if let truncation { fields.append(("WARC-Truncated", truncation.rawValue)) }
        fields.append(("Content-Type", contentType ?? "application/http; msgtype=response"))
        let type = contentType.map { String($0.prefix { $0 != ";" && $0 != " " }) }
        let capture = Capture(
            url: original.url, timestamp: original.time.timestamp, mime: isRevisit ? "warc/revisit" : type ?? response?.mime ?? "unk",
            status: isRevisit ? "-" : response?.status ?? "-", digest: payloadDigest)
        let record = WARCRecord(fields, block: response?.bytes ?? [], content: isRevisit ? nil : body, capture: capture)
        return [record] + (request.map { [$0] } ?? [])
    }
}
