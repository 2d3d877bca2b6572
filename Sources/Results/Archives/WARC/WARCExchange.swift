package import GannetBase
package import GannetHTTP

/// An answer and its request as they went over the wire, or a body alone: stores keep bodies without their exchanges.
package struct WARCExchange: Sendable {
    /// As it was asked for, without a fragment.
    package var url: String
    /// When the request was sent, or the body was fetched.
    package var date: Date
    /// Nil leaves the request record out.
    package var requestHead: [UInt8]?
    /// The status line and all fields in the order of the wire; nil for a body alone. An HTTP/2 response has lines like those of HTTP/1.1, as libcurl
    /// makes them. Heads of interim responses (1xx) and of proxies do not belong here.
    package var responseHead: [UInt8]?
    /// The media type of a body alone.
    package var contentType: String?
    /// Before decoding of its content coding, and after removal of its transfer coding.
    package var body: ArchiveContent
    /// The SHA-256 of the body's bytes, if it is known.
    package var payloadDigest: [UInt8]?
    /// Such as `h2` or `tls/1.3`, for `WARC-Protocol`.
    package var protocols: [String] = []
    /// A numeric address, for `WARC-IP-Address`.
    package var remoteAddress: String?
    /// Why the body ends too early.
    package var cut: WireRecord.Cut?

    package init(url: String, date: Date, responseHead: [UInt8]? = nil, body: ArchiveContent = .bytes([])) {
        self.url = url
        self.date = date
        self.responseHead = responseHead
        self.body = body
    }

    /// - Parameter downloaded: The body that the job has got, and its digest; nil for a job that failed. Then there is no exchange for that body.
    init?(_ exchange: WireRecord.Exchange, downloaded: (ArchiveContent, [UInt8])?) {
        self.init(url: exchange.url, date: exchange.date, responseHead: exchange.answerHead)
        switch exchange.body {
        case .bytes(let bytes): body = .bytes(bytes)
        case .file(let file, let count): body = .file(path: file.path, count: count)
        case .downloaded:
            guard let downloaded else { return nil }
            (body, payloadDigest) = downloaded
        }
        requestHead = exchange.requestHead.isEmpty ? nil : exchange.requestHead
        protocols = [exchange.protocolName]
        remoteAddress = exchange.remoteAddress
        cut = exchange.cut
    }
}

extension WARCWriter {
    /// Writes the exchanges of a job. The place is that of the last answer, whose archive has all of them; nil where there is none.
    func write(_ exchanges: [WireRecord.Exchange], downloaded: (ArchiveContent, [UInt8])?) throws -> PackedPlace? {
        let made = exchanges.compactMap { WARCExchange($0, downloaded: downloaded) }
        // The file of a body is removed with the last reference to it.
        return try withExtendedLifetime(exchanges) {
            let places = try made.map { try write($0) }
            // An archive has ended between them. Its redirects would be lost with it, though the row is in another one.
            for (exchange, place) in zip(made, places) where place.file != places.last?.file { try write(exchange) }
            return places.last
        }
    }
}
