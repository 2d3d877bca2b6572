internal import GannetBase
internal import GannetHTTP

/// A browser's sign-in: a cookie that says until when it holds, with a seal that only a holder of the token can make.
///
/// Nothing is kept for it. So each gateway that has the token takes it, and it ends with the token.
package struct SessionCookie: Sendable {
    /// Whether browsers may send it over TLS alone.
    let isSecure: Bool

    package init(isSecure: Bool) { self.isSecure = isSecure }

    static let days = 7
    /// Browsers take a cookie of the first name from no other host and no other path.
    private var name: String { isSecure ? "__Host-gannet-session" : "gannet-session" }

    /// - Parameter now: In seconds since 1970.
    package func header(for token: Token, now: Int64) -> String {
        let end = now + Int64(Self.days * 86_400)
        return "\(name)=\(end).\(Self.seal(end, token).hexadecimal)" + attributes(age: Self.days * 86_400)
    }

    var headerOfSignOut: String { "\(name)=" + attributes(age: 0) }

    private func attributes(age: Int) -> String { "; Path=/; Max-Age=\(age); HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "") }

    /// The index of the token with which the request's browser has signed in.
    package func holder(_ request: HTTPServiceRequest, in tokens: [Token], now: Int64) -> Int? {
        // A browser sends one. Each costs a seal for each token, and anybody may send hundreds.
        let cookies = request.headers("cookie").lazy.flatMap { $0.split(separator: ";") }
        let pairs = cookies.map { $0.drop { $0 == " " }.split(separator: "=", maxSplits: 1) }
        guard let pair = pairs.first(where: { $0.count == 2 && $0[0] == name }) else { return nil }
        let parts = pair[1].split(separator: ".", maxSplits: 1)
        guard parts.count == 2, parts[0].utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let end = Int64(parts[0]), end > now,
            parts[1].utf8.count == Self.sealLength
        else { return nil }
        let shown = Array(parts[1].utf8)
        var found: Int?
        for (index, token) in tokens.enumerated() where Token.areEqual(Array(Self.seal(end, token).hexadecimal.utf8), shown) {
            found = index
        }
        return found
    }

    /// In hexadecimal digits.
    private static let sealLength = 64

    private static func seal(_ end: Int64, _ token: Token) -> [UInt8] {
        SHA256Digest(sealing: Array("gannet-session-1 \(end)".utf8), key: token.digest).bytes
    }
}
