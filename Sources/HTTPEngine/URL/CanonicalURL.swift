/// An http or https URL that has been checked, and the form in which equal URLs are equal text.
///
/// It is read by libcurl's own parser, so that what is checked is what will be fetched: `http:/h/` too, which is `http://h/` to it and to
/// browsers (`SameURLs` in the tests has each such case with its rule). Two URLs with one canonical form lead to
/// the same request; two forms may still mean the same resource.
package struct CanonicalURL: Sendable, Hashable {
    /// The longest URL accepted, in bytes.
    package static let maximumLength = 8192

    /// Scheme and host in lower case (international names in ASCII), no default port, no dot segments, no needless escapes, no fragment.
    ///
    /// User and password are part of it, since the answer depends on them: print `RedactedURL(text)` instead. All of it is ASCII.
    package let text: String
    /// The host in lower case, an IPv6 address in brackets, and `:port` unless it is the scheme's own.
    package let host: String

    /// The host without a port: what limits on requests go by, since a machine is as busy behind one port as behind another.
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

    /// What identifies the URL in the cluster: the first 16 bytes of the canonical form's SHA-256.
    package var id: [UInt8] { Array(SHA256Digest(of: text.utf8).bytes.prefix(16)) }
}

extension CanonicalURL: CustomStringConvertible {
    /// The canonical form without credentials.
    package var description: String { RedactedURL(text).description }
}
