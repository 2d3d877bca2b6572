import CCurl

/// The target of a request: a URL that was checked, and its origin.
package struct RequestTarget: Sendable, Hashable {
    package let url: String
    package let isSecure: Bool
    /// In ASCII and small letters. An IPv6 address stands in brackets.
    package let host: String
    package let port: Int
    private let credentials: String?

    package init(_ url: String) throws(RequestRejection) {
        let parts = try CanonicalURL.parse(url)
        self.url = url
        isSecure = parts.scheme == "https"
        host = parts.host
        port = parts.port.flatMap { Int($0) } ?? (isSecure ? 443 : 80)
        credentials = parts.credentials
    }

    /// The target of a `Location` in this target's answer. Credentials go along to the same origin only. Credentials in the `Location` are dropped:
    /// an origin must not choose with which name a third party is asked.
    package func following(_ location: [UInt8]) throws(RequestRejection) -> RequestTarget {
        let handle = CurlURL()
        try handle.set(url)
        let user = try handle.get(CURLUPART_USER)
        let password = try handle.get(CURLUPART_PASSWORD)
        try handle.follow(location)
        try handle.set(CURLUPART_FRAGMENT, nil)
        try handle.set(CURLUPART_USER, nil)
        try handle.set(CURLUPART_PASSWORD, nil)
        let next = try RequestTarget(try handle.text())
        guard trusts(next), user != nil || password != nil else { return next }
        try handle.set(CURLUPART_USER, user)
        try handle.set(CURLUPART_PASSWORD, password)
        return try RequestTarget(try handle.text())
    }

    /// Whether headers for this origin may go to the other: the same one, or the same host from http to https.
    package func trusts(_ other: RequestTarget) -> Bool {
        guard host == other.host else { return false }
        if isSecure == other.isSecure { return port == other.port }
        return other.isSecure && port == 80 && other.port == 443
    }
}
