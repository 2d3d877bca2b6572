package import GannetBase

/// A request and its response as they went over the wire.
package struct WARCExchange: Sendable {
    /// As it was asked for, without a fragment.
    package var url: String
    /// When the request was sent.
    package var date: Date
    /// Nil leaves the request record out.
    package var requestHead: [UInt8]?
    /// The status line and all fields in the order of the wire. An HTTP/2 response has lines like those of HTTP/1.1, as libcurl makes them. Heads of
    /// interim responses (1xx) and of proxies do not belong here.
    package var responseHead: [UInt8]
    /// Before decoding of its content coding, and after removal of its transfer coding.
    package var body: ArchiveContent
    /// Of the body's bytes, if it is known. It saves a pass over the body where records have no block digests.
    package var payloadDigest: [UInt8]?
    /// Such as `h2` or `tls/1.3`, for `WARC-Protocol`.
    package var protocols: [String] = []
    /// A numeric address, for `WARC-IP-Address`.
    package var remoteAddress: String?
    package var truncation: WARCTruncation?
    /// The answer that a 304 confirms.
    package var confirms: WARCReference?

    package init(url: String, date: Date, responseHead: [UInt8], body: ArchiveContent = .bytes([])) {
        self.url = url
        self.date = date
        self.responseHead = responseHead
        self.body = body
    }
}

/// A body without its exchange: stores keep bodies alone.
package struct WARCResource: Sendable {
    package var url: String
    package var date: Date
    /// A media type; nil stands for `application/octet-stream`.
    package var contentType: String?
    package var body: ArchiveContent
    package var payloadDigest: [UInt8]?

    package init(url: String, date: Date, contentType: String? = nil, body: ArchiveContent) {
        self.url = url
        self.date = date
        self.contentType = contentType
        self.body = body
    }
}

/// Why the body ends too early.
package enum WARCTruncation: String, Sendable { case length, time, disconnect, unspecified }

/// An earlier capture, in this archive or elsewhere.
package struct WARCReference: Sendable, Hashable {
    package var url: String
    package var date: Date
    /// Without `urn:uuid:`.
    package var recordID: UUID?
    package var payloadDigest: [UInt8]?

    package init(url: String, date: Date, recordID: UUID? = nil, payloadDigest: [UInt8]? = nil) {
        self.url = url
        self.date = date
        self.recordID = recordID
        self.payloadDigest = payloadDigest
    }
}

/// Where the record of a response lies.
package struct WARCPlace: Sendable, Hashable {
    package enum Kind: String, Sendable { case response, revisit, resource }

    /// The name that the file has when it is complete.
    package let file: String
    package let offset: Int
    /// Of the compressed record.
    package let length: Int
    package let kind: Kind
    package let recordID: UUID
}

package struct WARCOptions: Sendable {
    /// A file ends with the exchange that reaches this size, in bytes.
    package var fileSize = 1_000_000_000
    /// A file ends earlier when its index has so many bytes, because the index is sorted in memory.
    package var indexSize = 32 << 20
    /// zlib's, 1 to 9.
    package var compressionLevel = 6
    /// `WARC-Block-Digest` finds damage in heads, at the price of one more digest of each body.
    package var hasBlockDigests = true
    /// The digests that revisits are found by. The oldest is forgotten first, and its body is written whole when it comes again.
    package var rememberedDigests = 100_000
    /// The bytes of URLs that belong to them.
    package var rememberedURLBytes = 16 << 20
    /// Whether the original of a revisit may stand in an earlier file. Otherwise each file stands for itself, and others may be lost.
    package var revisitsEarlierFiles = true
    /// Names of request fields that are left out of records, in small letters.
    package var hiddenRequestFields: Set<String> = ["authorization", "cookie", "proxy-authorization"]
    /// Fields of the `warcinfo` record, such as `software` and `operator`. Each file has some more.
    package var information: [(name: String, value: String)] = [(name: "software", value: "gannet/\(Version.current)")]

    package init() {}
}
