extension CanonicalURL {
    /// What a canonical form is put together from.
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
        guard let scheme = try handle.get(.scheme)?.lowercased() else { throw .noScheme }
        guard scheme == "http" || scheme == "https" else { throw .unsupportedScheme(scheme) }
        guard let host = try handle.host(), !host.isEmpty else { throw .noHost }
        if host.utf8.first == UInt8(ascii: "["), try handle.get(.zone) != nil { throw .interfaceZone }
        let port = try handle.get(.port)
        guard port != "0" else { throw .badPort }
        return Parts(
            scheme: scheme,
            credentials: url.utf8.contains(UInt8(ascii: "@")) ? try handle.credentials() : nil,
            host: try CanonicalHost.text(host),
            port: port,
            path: try handle.get(.path) ?? "/",
            query: try handle.get(.query))
    }

    /// What libcurl would refuse with less to say about it, or take as the end of the text.
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
