internal import GannetBase

/// An http or https URL that can be fetched. The engine requests its text, and two URLs are the same when their texts are equal.
package struct CanonicalURL: Sendable, Hashable {
    /// The longest URL accepted, in bytes.
    package static let maximumLength = 8192

    /// The URL as the WHATWG URL standard writes it, without its fragment. All of it is ASCII.
    ///
    /// User and password are part of it, since the answer depends on them: print `RedactedURL(text)` instead.
    package let text: String
    package let isSecure: Bool
    /// Nil when it is the scheme's own.
    let givenPort: Int?
    let offsets: Offsets

    /// Where the parts begin in the text, in bytes.
    struct Offsets: Hashable {
        var host = 0
        var hostEnd = 0
        var path = 0
        /// Of the question mark.
        var query: Int?
    }

    init(text: String, isSecure: Bool, port: Int?, offsets: Offsets) {
        (self.text, self.isSecure, givenPort, self.offsets) = (text, isSecure, port, offsets)
    }

    /// The host in small letters, an IPv6 address in brackets, and `:port` unless it is the scheme's own. Limits on requests and rests go by it:
    /// behind another port is another server. 80 of http and 443 of https are one server nearly always.
    package var host: String { part(offsets.host..<offsets.path) }

    /// The host without a port.
    package var hostName: String { part(offsets.host..<offsets.hostEnd) }

    /// Scheme, host and port, without user and password.
    package var plainOrigin: String { "\(isSecure ? "https" : "http")://\(host)" }

    /// The path and the query, as the first line of a request has them.
    package var pathAndQuery: String { part(offsets.path..<text.utf8.count) }

    /// 0 is a port to the standard, behind which nobody listens.
    package var port: Int { givenPort ?? (isSecure ? 443 : 80) }

    /// `http://` or `https://`.
    private var schemeEnd: Int { isSecure ? 8 : 7 }

    /// User and password as the text has them; nil without both.
    var credentials: String? { offsets.host == schemeEnd ? nil : part(schemeEnd..<offsets.host - 1) }

    private func part(_ range: Range<Int>) -> String {
        let bytes = text.utf8
        let start = bytes.index(bytes.startIndex, offsetBy: range.lowerBound)
        return String(text[start..<bytes.index(start, offsetBy: range.count)])
    }

    /// The URL as the standard reads it, which permits more than can be fetched.
    /// - Parameter base: The URL that a relative text refers to.
    /// - Throws: Why the text is no http or https URL.
    package init(standard text: [UInt8], base: CanonicalURL? = nil) throws(RequestRejection) {
        self = try URLParser.parse(text, base: base)
    }

    /// Reads the URL. The limit on its length holds for its text too, in which escapes take three times their bytes.
    package init(_ url: String) throws(RequestRejection) {
        if let plain = CanonicalURL(plain: url) {
            self = plain
        } else {
            try self.init(parsing: Array(url.utf8))
        }
    }

    /// Reads a URL of unknown encoding, such as a row of a file.
    package init(bytes: some Sequence<UInt8>) throws(RequestRejection) {
        if let plain = bytes.withContiguousStorageIfAvailable({ CanonicalURL(plain: $0) }) ?? nil {
            self = plain
            return
        }
        let bytes = Array(bytes)
        guard bytes.allSatisfy({ $0 < 0x80 }) || String(validating: bytes, as: UTF8.self) != nil else { throw .notUTF8 }
        try self.init(parsing: bytes)
    }

    /// Reads the URL with the parser, also a plain one.
    package init(parsing bytes: [UInt8]) throws(RequestRejection) {
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= Self.maximumLength else { throw .tooLong(bytes: bytes.count) }
        // The standard would remove or escape such a byte. In a list, the byte more likely belongs to another column, or to a damaged row.
        if let offset = bytes.firstIndex(where: { $0 <= 0x20 || $0 == 0x7f }) { throw Self.rejection(of: bytes, at: offset) }
        try self.init(standard: bytes)
        try check()
    }

    /// The place to which the `Location` of this URL's answer leads.
    ///
    /// Credentials go along to the same origin only. Credentials in the `Location` are dropped: an origin must not choose with which name
    /// a third party is asked.
    package func following(_ location: [UInt8]) throws(RequestRejection) -> CanonicalURL {
        guard location.count <= Self.maximumLength else { throw .tooLong(bytes: location.count) }
        let next = try CanonicalURL(standard: location, base: self).with(credentials: nil)
        let followed = trusts(next) ? next.with(credentials: credentials) : next
        try followed.check()
        return followed
    }

    /// The same URL with other credentials, which are escaped already, or with none.
    private func with(credentials: String?) -> CanonicalURL {
        let start = text.utf8.prefix(schemeEnd)
        let userInfo = credentials.map { "\($0)@" } ?? ""
        let shift = schemeEnd + userInfo.utf8.count - offsets.host
        var moved = offsets
        moved.host += shift
        moved.hostEnd += shift
        moved.path += shift
        moved.query = offsets.query.map { $0 + shift }
        let rest = part(offsets.host..<text.utf8.count)
        return CanonicalURL(text: "\(Substring(start))\(userInfo)\(rest)", isSecure: isSecure, port: givenPort, offsets: moved)
    }

    /// Whether credentials for this origin may go to the other: the same one, or the same host from http to https.
    package func trusts(_ other: CanonicalURL) -> Bool {
        guard hostName == other.hostName else { return false }
        if isSecure == other.isSecure { return port == other.port }
        return other.isSecure && port == 80 && other.port == 443
    }

    /// Identifies the URL in the cluster: the first 16 bytes of the SHA-256 of its text.
    package var id: [UInt8] {
        var text = text
        return Array(text.withUTF8 { SHA256Digest(of: UnsafeRawBufferPointer($0)) }.bytes.prefix(16))
    }
}

extension CanonicalURL: CustomStringConvertible {
    /// The text without credentials.
    package var description: String { RedactedURL(text).description }
}

extension CanonicalURL {
    /// The part of the URL that libcurl gets as the URL. It would read some paths in its own way, so it gets the path as a target.
    var origin: String { part(0..<offsets.path) }

    /// The target in the request's first line. A proxy that passes plain requests on needs the whole URL.
    func requestTarget(throughProxy: Bool) -> String {
        throughProxy ? with(credentials: nil).text : pathAndQuery
    }

    /// Refuses URLs that the standard permits and nobody can answer.
    private func check() throws(RequestRejection) {
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong(bytes: text.utf8.count) }
        let name = hostName
        guard name.utf8.first == UInt8(ascii: "[") || Self.isName(name) else { throw .badHost }
        // Credentials are sent without escapes, and libcurl sends no control characters.
        if let credentials, [UInt8].percentDecoded(credentials.utf8).bytes.contains(where: { $0 < 0x20 }) {
            throw .controlInCredentials
        }
    }

    /// Whether a name server can be asked for the name, by its letters: no label is empty, and none has punctuation.
    private static func isName(_ host: String) -> Bool {
        var last = UInt8(ascii: ".")
        for byte in host.utf8 {
            guard
                byte.isLetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "~")
                    || byte == UInt8(ascii: ".") && last != byte
            else { return false }
            last = byte
        }
        return true
    }

    private static func rejection(of url: [UInt8], at offset: Int) -> RequestRejection {
        guard let mark = url.firstRange(of: Array("://".utf8)) else { return .noScheme }
        let authority = url[mark.upperBound...].prefix { ![UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        let part: RequestRejection.Part = offset < mark.upperBound ? .scheme : host.indices.contains(offset) ? .host : .other
        return .forbiddenByte(url[offset], offset: offset, in: part)
    }
}
