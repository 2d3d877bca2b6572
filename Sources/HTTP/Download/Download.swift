package import GannetBase

/// A complete answer, and how it came.
package struct Download: Sendable, Hashable {
    /// The URL that answered, after redirects, without user and password.
    package var finalURL: String
    /// 200 to 299, or 304 where the request was a conditional one.
    package var status: Int
    /// The headers of the last answer.
    package var headers: ResponseHeaders
    package var body: DownloadedBody
    /// The length of the body after decoding.
    package var byteCount: Int64
    /// The length of the body as it came through the network, encoded.
    package var transferredBytes: Int64
    /// From the start of the transfer to its end, including the look-up of its host.
    package var duration: Duration
    /// The redirects on the way, in order.
    package var hops: [Hop]
    /// Where the time went; nil for a fast fetch.
    package var phases: PhaseTimes?
    /// The exchanges, where the request asked for them.
    package var wire: WireRecord?
    /// How often the body broke off and its rest was asked for.
    package var continuations = 0

    /// The `Content-Type` as sent, cut at 256 characters and without control characters.
    package var contentType: String? {
        headers["content-type"].map { value in
            // Almost all values are short and plain.
            if value.utf8.count <= 256, value.utf8.allSatisfy({ 0x20...0x7e ~= $0 }) { return value }
            return String(value.filter { !$0.isControl }.prefix(256))
        }
    }

    /// One redirect on the way.
    package struct Hop: Sendable, Hashable {
        /// The URL of the request, without user and password.
        package var url: String
        package var status: Int
        /// The answer's headers: they say for how long the redirect holds.
        package var headers = ResponseHeaders()
    }
}

extension Download {
    /// An answer that did not come through a network, such as that of a scripted downloader.
    package init(finalURL: String, status: Int = 200, headers: ResponseHeaders = ResponseHeaders(), bytes: [UInt8] = []) {
        self.init(
            finalURL: finalURL, status: status, headers: headers, body: .bytes(bytes), byteCount: Int64(bytes.count),
            transferredBytes: Int64(bytes.count), duration: .zero, hops: [])
    }
}

extension Character {
    fileprivate var isControl: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } }
}

/// A body that has arrived completely.
package enum DownloadedBody: Sendable, Hashable {
    case bytes([UInt8])
    /// The path of a temporary file, and the digest of its bytes. The receiver renames or deletes the file.
    case file(String, SHA256Digest)

    /// The digest of the body. For bytes in memory it is computed here, and not on the engine's thread.
    package var digest: SHA256Digest {
        switch self {
        case .bytes(let bytes): SHA256Digest(of: bytes)
        case .file(_, let digest): digest
        }
    }
}
