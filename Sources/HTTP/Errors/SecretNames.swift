/// Names that usually stand before a secret: of headers, and of parameters in a query.
///
/// One list serves both, so that a value which no text shows in a URL goes to no other origin in a header either.
enum SecretNames {
    /// Enough wherever they stand in the name of a header. A parameter may be an `author` or a `keyword`.
    private static let unmistakable = [
        "auth", "cookie", "token", "secret", "key", "passw", "session", "credential", "signature", "jwt", "csrf", "xsrf", "bearer", "dpop",
    ]

    /// Enough at the end of any name, such as `X-Amz-Signature`, `access_token` or `user[password]`.
    private static let endings =
        unmistakable + [
            "authorization", "credentials", "password", "passwd", "pwd", "pass", "passphrase", "keyid", "sessionid", "sid", "sas", "sig",
            "hmac", "pin", "otp", "code", "policy", "ticket", "nonce", "verifier",
        ]

    /// Whether the value of a query's parameter may be a secret.
    static func hasParameter(_ name: some Sequence<UInt8>) -> Bool { endings.contains(where: plain(name).hasSuffix) }

    /// Whether the value of a header may be a secret. In doubt it is one.
    static func hasHeader(_ name: String) -> Bool {
        let plain = plain(name.utf8)
        return unmistakable.contains { plain.contains($0) } || endings.contains(where: plain.hasSuffix)
    }

    /// The letters and digits of a name, in small letters.
    private static func plain(_ name: some Sequence<UInt8>) -> String {
        String(decoding: name.filter(\.isLetterOrDigit), as: UTF8.self).lowercased()
    }
}
