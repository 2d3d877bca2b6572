/// Where a request goes: a URL that has been checked, and whom it means.
package struct RequestTarget: Sendable, Hashable {
    package let url: String
    package let isSecure: Bool
    /// In ASCII and small letters; an IPv6 address in brackets.
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

    /// Where a `Location` leads from here. Credentials come along to the same origin and are taken from nobody else: a stranger shall not
    /// choose as whom we come to a third party.
    package func following(_ location: [UInt8]) throws(RequestRejection) -> RequestTarget {
        let handle = CurlURL()
        try handle.set(url)
        let user = try handle.get(.user)
        let password = try handle.get(.password)
        try handle.follow(location)
        try handle.set(.fragment, nil)
        try handle.set(.user, nil)
        try handle.set(.password, nil)
        let next = try RequestTarget(try handle.text())
        guard trusts(next), user != nil || password != nil else { return next }
        try handle.set(.user, user)
        try handle.set(.password, password)
        return try RequestTarget(try handle.text())
    }

    /// Whether what was meant for this origin may go to the other: the same one, or the same host from http to https.
    package func trusts(_ other: RequestTarget) -> Bool {
        guard host == other.host else { return false }
        if isSecure == other.isSecure { return port == other.port }
        return other.isSecure && port == 80 && other.port == 443
    }
}
