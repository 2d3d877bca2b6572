extension CanonicalURL {
    /// What a canonical form is put together from.
    struct Parts {
        var scheme: String
        var credentials: String?
        var host: String
        var port: String?
        var path: String
        var query: String?

        /// The host, with its port unless that is the scheme's own.
        var authority: String { port.map { "\(host):\($0)" } ?? host }

        /// The whole, its escapes in one spelling.
        var text: String {
            let credentials = credentials.map { "\($0)@" } ?? ""
            let query = query.map { "?\(PercentEncoding.normalized($0))" } ?? ""
            return "\(scheme)://\(credentials)\(authority)\(PercentEncoding.normalized(path))\(query)"
        }
    }

    static func parse(_ url: String) throws(URLRejection) -> Parts {
        try checkBytes(url)
        let handle = CurlURL()
        try handle.set(url)

        // libcurl reads a text without a scheme as one with a bad scheme, and knows more schemes than are fetched here.
        guard let scheme = try handle.get(.scheme)?.lowercased() else { throw .noScheme }
        guard scheme == "http" || scheme == "https" else { throw .unsupportedScheme(scheme) }
        guard try handle.get(.zone) == nil else { throw .interfaceZone }
        guard let host = try handle.host(), !host.isEmpty else { throw .noHost }
        let port = try handle.get(.port)
        guard port != "0" else { throw .badPort }

        let user = try handle.get(.user) ?? ""
        let password = try handle.get(.password) ?? ""
        return Parts(
            scheme: scheme,
            credentials: user.isEmpty && password.isEmpty ? nil : "\(user):\(password)",
            host: host.lowercased(),
            port: port,
            path: try handle.get(.path) ?? "/",
            query: try handle.get(.query))
    }

    /// What libcurl would refuse with less to say about it, or take as the end of the text.
    private static func checkBytes(_ url: String) throws(URLRejection) {
        guard !url.isEmpty else { throw .empty }
        guard url.utf8.count <= maximumLength else { throw .tooLong(bytes: url.utf8.count) }
        for (offset, byte) in url.utf8.enumerated() where byte <= 0x20 || byte == 0x7f {
            throw .forbiddenByte(byte, offset: offset)
        }
    }
}
