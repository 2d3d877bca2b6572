/// An HTTP or SOCKS proxy: `http://[user:password@]host:port`, `https://…`, or `socks5h://…`, which looks names up itself as the others do.
package struct ProxyAddress: Sendable, Hashable {
    let url: String
    let host: String
    let port: Int

    /// Why a text is no proxy's address. The text is not quoted, since it may hold a password.
    package struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
        package let description: String
    }

    package init(_ text: String) throws(Invalid) {
        guard let mark = text.firstRange(of: "://") else { throw Self.refusal }
        let scheme = text[..<mark.lowerBound].lowercased()
        guard ["http", "https", "socks5h"].contains(scheme) else {
            throw Invalid(description: "A proxy's address begins with http://, https:// or socks5h://.")
        }
        let rest = text[mark.upperBound...]
        let authority = rest.hasSuffix("/") ? rest.dropLast() : rest
        guard !authority.contains(where: { "/?#".contains($0) }) else { throw Self.refusal }
        guard let colon = authority.lastIndex(of: ":"), let port = Int(authority[authority.index(after: colon)...]),
            (1...65535).contains(port)
        else { throw Self.refusal }
        do throws(URLRejection) {
            // Read as an http URL, whose form it has.
            host = try CanonicalURL.parse("http://\(authority)").host
        } catch {
            throw Invalid(description: "The proxy's address cannot be used: \(error).")
        }
        self.port = port
        url = "\(scheme)://\(authority)"
    }

    private static let refusal = Invalid(description: "A proxy's address is http://host:port, https://host:port or socks5h://host:port.")
}

extension ProxyAddress: CustomStringConvertible {
    /// The address without credentials.
    package var description: String { RedactedURL(url).description }
}
