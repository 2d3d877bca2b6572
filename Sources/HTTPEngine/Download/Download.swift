/// An answer that has arrived completely, and how.
public struct Download: Sendable, Hashable {
    /// The URL that answered, after redirects, without user and password.
    public var finalURL: String
    /// 200 to 299, or 304 where the request was a conditional one.
    public var status: Int
    /// Those of the last answer.
    public var headers: ResponseHeaders
    public var body: DownloadedBody
    /// The length of the body, unpacked.
    public var byteCount: Int64
    /// What of it came through the network.
    public var transferredBytes: Int64
    /// From the start of the transfer, the look-up of its host included, to its end.
    public var duration: Duration
    /// The answers that led on, in order.
    public var hops: [Hop]

    public init(
        finalURL: String, status: Int, headers: ResponseHeaders, body: DownloadedBody, byteCount: Int64, transferredBytes: Int64,
        duration: Duration, hops: [Hop]
    ) {
        self.finalURL = finalURL
        self.status = status
        self.headers = headers
        self.body = body
        self.byteCount = byteCount
        self.transferredBytes = transferredBytes
        self.duration = duration
        self.hops = hops
    }

    /// An answer that did not come through a network: that of a scripted downloader, say.
    public init(finalURL: String, status: Int = 200, headers: ResponseHeaders = ResponseHeaders(), bytes: [UInt8] = []) {
        self.init(
            finalURL: finalURL, status: status, headers: headers, body: .bytes(bytes), byteCount: Int64(bytes.count),
            transferredBytes: Int64(bytes.count), duration: .zero, hops: [])
    }

    /// The `Content-Type` as sent, cut at 256 characters and without control characters.
    public var contentType: String? {
        headers["content-type"].map { String($0.filter { !$0.isControl }.prefix(256)) }
    }

    /// One redirect on the way.
    public struct Hop: Sendable, Hashable {
        /// What was asked for, without user and password.
        public var url: String
        public var status: Int
        /// What came with it: for how long the redirect may be believed is said here.
        public var headers: ResponseHeaders

        public init(url: String, status: Int, headers: ResponseHeaders = ResponseHeaders()) {
            self.url = url
            self.status = status
            self.headers = headers
        }
    }
}

extension Character {
    fileprivate var isControl: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } }
}
