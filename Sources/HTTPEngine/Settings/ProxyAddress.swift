/// An HTTP or SOCKS proxy: `http://[user:password@]host:port`, `https://…`, or `socks5h://…`, which looks names up itself as the others do.
/// A text that is none is not quoted, since it may hold a password.
struct ProxyAddress: Sendable, Hashable {
    let url: String
    let host: String
    let port: Int

    init(_ text: String) throws(InvalidOptions) {
        guard let mark = text.firstRange(of: "://") else { throw Self.refusal }
        let scheme = text[..<mark.lowerBound].lowercased()
        guard ["http", "https", "socks5h"].contains(scheme) else {
            throw InvalidOptions("A proxy's address begins with http://, https:// or socks5h://.")
        }
        let rest = text[mark.upperBound...]
        let authority = rest.hasSuffix("/") ? rest.dropLast() : rest
        guard !authority.contains(where: { "/?#".contains($0) }) else { throw Self.refusal }
        guard let colon = authority.lastIndex(of: ":"), let port = Int(authority[authority.index(after: colon)...]),
            (1...65535).contains(port)
        else { throw Self.refusal }
        do throws(RequestRejection) {
            // Read as an http URL, whose form it has.
            host = try CanonicalURL.parse("http://\(authority)").host
        } catch {
            throw InvalidOptions("The proxy's address cannot be used: \(error).")
        }
        self.port = port
        url = "\(scheme)://\(authority)"
    }

    private static let refusal = InvalidOptions("A proxy's address is http://host:port, https://host:port or socks5h://host:port.")
}

extension ProxyAddress: CustomStringConvertible {
    /// The address without credentials.
    var description: String { RedactedURL(url).description }
}
