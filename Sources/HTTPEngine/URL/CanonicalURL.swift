import CCurl

/// An http or https URL that has been checked, and the form in which equal URLs are equal text.
///
/// libcurl's own parser reads it, so the checked URL is the one that is fetched. To libcurl and to browsers `http:/h/` is `http://h/`, for
/// example; `SameURLs` in the tests has each such case with its rule. Two URLs with one canonical form lead to the same request; two forms
/// may still mean the same resource.
package struct CanonicalURL: Sendable, Hashable {
    /// The longest URL accepted, in bytes.
    package static let maximumLength = 8192

    /// Scheme and host in lower case (international names in ASCII), no default port, no dot segments, no needless escapes, no fragment.
    ///
    /// User and password are part of it, since the answer depends on them: print `RedactedURL(text)` instead. All of it is ASCII.
    package let text: String
    /// The host in lower case, an IPv6 address in brackets, and `:port` unless it is the scheme's own.
    package let host: String

    /// The host without a port. Limits on requests go by it: a machine is as busy behind one port as behind another.
    package var hostName: String {
        // In an address in brackets the last colon is followed by more than digits.
        guard let colon = host.utf8.lastIndex(of: UInt8(ascii: ":")), host[colon...].utf8.dropFirst().allSatisfy({ 0x30...0x39 ~= $0 })
        else { return host }
        return String(host[..<colon])
    }

    /// Checks and reads the URL. The limit on its length holds for the canonical form too, in which escapes take three times their bytes.
    package init(_ url: String) throws(RequestRejection) {
        var parts = try Self.parse(url)
        // Dots that were escaped are dots, and only now can the parser take them out of the path.
        if parts.path.utf8.contains(UInt8(ascii: "%")), PercentEncoding.normalized(parts.path, in: .path) != parts.path {
            parts = try Self.parse(parts.text)
        }
        host = parts.authority
        text = parts.text
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong(bytes: text.utf8.count) }
    }

    /// Checks and reads a URL of unknown encoding, such as a line of a file.
    package init(bytes: some Sequence<UInt8>) throws(RequestRejection) {
        guard let url = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        try self.init(url)
    }

    /// Checks without building the canonical form.
    package static func check(_ url: String) throws(RequestRejection) {
        _ = try parse(url)
    }

    /// Identifies the URL in the cluster: the first 16 bytes of the canonical form's SHA-256.
    package var id: [UInt8] { Array(SHA256Digest(of: text.utf8).bytes.prefix(16)) }
}

extension CanonicalURL: CustomStringConvertible {
    /// The canonical form without credentials.
    package var description: String { RedactedURL(text).description }
}

extension CanonicalURL {
    /// The parts of a canonical form.
    struct Parts {
        var scheme: String
        /// `user:password`, its escapes in one spelling.
        var credentials: String?
        /// In its one spelling.
        var host: String
        /// Nil when it is the scheme's own.
        var port: String?
        var path: String
        var query: String?

        /// The host, with its port unless that is the scheme's own.
        var authority: String { port.map { "\(host):\($0)" } ?? host }

        /// The whole, its escapes in one spelling.
        var text: String {
            let credentials = credentials.map { "\($0)@" } ?? ""
            let query = query.map { "?\(PercentEncoding.normalized($0, in: .query))" } ?? ""
            return "\(scheme)://\(credentials)\(authority)\(PercentEncoding.normalized(path, in: .path))\(query)"
        }
    }

    static func parse(_ url: String) throws(RequestRejection) -> Parts {
        try checkBytes(url)
        let handle = CurlURL()
        try handle.set(url)

        // libcurl reads a text without a scheme as one with a bad scheme, and knows more schemes than are fetched here.
        guard let scheme = try handle.get(CURLUPART_SCHEME)?.lowercased() else { throw .noScheme }
        guard scheme == "http" || scheme == "https" else { throw .unsupportedScheme(scheme) }
        guard let host = try handle.host(), !host.isEmpty else { throw .noHost }
        if host.utf8.first == UInt8(ascii: "["), try handle.get(CURLUPART_ZONEID) != nil { throw .interfaceZone }
        let port = try handle.get(CURLUPART_PORT)
        guard port != "0" else { throw .badPort }
        return Parts(
            scheme: scheme,
            credentials: url.utf8.contains(UInt8(ascii: "@")) ? try handle.credentials() : nil,
            host: try CanonicalHost.text(host),
            port: port,
            path: try handle.get(CURLUPART_PATH) ?? "/",
            query: try handle.get(CURLUPART_QUERY))
    }

    /// Refuses bytes that libcurl would refuse with fewer words, or take as the end of the text.
    private static func checkBytes(_ url: String) throws(RequestRejection) {
        let count = url.utf8.count
        guard count > 0 else { throw .empty }
        guard count <= maximumLength else { throw .tooLong(bytes: count) }
        var url = url
        let offset = url.withUTF8 { bytes in bytes.firstIndex { $0 <= 0x20 || $0 == 0x7f } }
        if let offset { throw rejection(of: Array(url.utf8), at: offset) }
    }

    private static func rejection(of url: [UInt8], at offset: Int) -> RequestRejection {
        guard let mark = url.firstRange(of: Array("://".utf8)) else { return .noScheme }
        let authority = url[mark.upperBound...].prefix { ![UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        let part: RequestRejection.Part = offset < mark.upperBound ? .scheme : host.indices.contains(offset) ? .host : .other
        return .forbiddenByte(url[offset], offset: offset, in: part)
    }
}

/// The host of a URL in its one spelling.
enum CanonicalHost {
    /// A name in small letters, an IPv4 address as four numbers, an IPv6 address in brackets as RFC 5952 has it.
    ///
    /// libcurl lets more through. Bytes that no name has may be escaped or made by UTS 46, and a canonical form with them could read as
    /// another URL. IPv6 addresses have several spellings. IPv4 addresses may hide behind escapes or wide digits. And names that end in a
    /// number cannot exist.
    /// - Parameter host: As libcurl gives it: without escapes and in ASCII.
    static func text(_ host: String) throws(RequestRejection) -> String {
        if host.utf8.first == UInt8(ascii: "[") {
            guard host.utf8.last == UInt8(ascii: "]"), let address = IPAddress(host.dropFirst().dropLast()), address.bitCount == 128 else {
                throw .badHost
            }
            return "[\(address)]"
        }
        guard host.utf8.allSatisfy(PercentEncoding.isUnreserved), !hasEmptyLabel(host) else { throw .badHost }
        if endsInNumber(host) { return try address(host) }
        return host.utf8.contains { (0x41...0x5a).contains($0) } ? host.lowercased() : host
    }

    /// The host as an IPv4 address; a host that ends in a number is one, or invalid (WHATWG's host parser).
    private static func address(_ host: String) throws(RequestRejection) -> String {
        if IPAddress(host) != nil { return host }
        // libcurl reads unusual spellings only where they stand unescaped.
        let handle = CurlURL()
        try handle.set("http://\(host)/")
        guard let plain = try handle.get(CURLUPART_HOST), IPAddress(plain) != nil else { throw .badHost }
        return plain
    }

    /// Whether nothing stands before a dot: no name server is asked for such a name.
    private static func hasEmptyLabel(_ host: String) -> Bool {
        var last = UInt8(ascii: ".")
        for byte in host.utf8 {
            if byte == UInt8(ascii: "."), last == byte { return true }
            last = byte
        }
        return false
    }

    /// Whether the last label, not counting the root's, is a decimal or hexadecimal number.
    private static func endsInNumber(_ host: String) -> Bool {
        let name = host.utf8.last == UInt8(ascii: ".") ? host.utf8.dropLast() : host.utf8[...]
        return HostName.isNumber(name.lastIndex(of: UInt8(ascii: ".")).map { name[name.index(after: $0)...] } ?? name)
    }
}
