internal import GannetBasics

/// A URL, or what was meant as one, in a form that may be printed and stored: without credentials.
public struct RedactedURL: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// Drops user and password, the values of query parameters that usually hold a secret, and the fragment. A fragment is never sent, so it
    /// explains nothing, and sign-ins leave tokens there.
    public init(_ url: String) {
        description = Self.withoutSecrets(url).escapedForDisplay
    }

    /// The same as it is, for programs: in its whole length, and with whatever characters it has.
    package static func withoutSecrets(_ url: String) -> String {
        // User and password first: an unescaped `#` in a password was not meant as a fragment.
        let open = withoutUserInfo(url, endsAtFragment: false)
        return withoutSecretParameters(String(Substring(open.utf8.prefix { $0 != 0x23 })))
    }

    /// An address in a configuration. The text before its last `@` may be a password with unescaped characters.
    package init(address: String) {
        let bytes = Array(address.utf8)
        guard let at = bytes.lastIndex(of: 0x40) else {
            self.init(address)
            return
        }
        let scheme = bytes[..<at].firstRange(of: Array("://".utf8)).map { bytes[..<$0.upperBound] } ?? []
        self.init(String(decoding: scheme + bytes[(at + 1)...], as: UTF8.self))
    }

    /// Also works on text that no parser would accept. Then it drops too much rather than too little.
    package static func withoutUserInfo(_ url: String) -> String { withoutUserInfo(url, endsAtFragment: true) }

    private static func withoutUserInfo(_ url: String, endsAtFragment: Bool) -> String {
        guard url.utf8.contains(0x40) else { return url }
        let bytes = Array(url.utf8)
        // Only a prefix of letters is a scheme: in "a:b@c://d" the first part is already user and password.
        var start = 0
        let letters = bytes.prefix { $0 != 0x3a }
        if letters.count < bytes.count, !letters.isEmpty, letters.allSatisfy(\.isSchemeByte) {
            let slashes = bytes[(letters.count + 1)...].prefix { $0 == 0x2f || $0 == 0x5c }.count
            if slashes > 0 { start = letters.count + 1 + slashes }
        }
        let authority = bytes[start...].prefix { $0 != 0x2f && $0 != 0x3f && ($0 != 0x23 || !endsAtFragment) }
        guard let at = authority.lastIndex(of: 0x40) else { return url }
        return String(decoding: bytes[..<start] + bytes[(at + 1)...], as: UTF8.self)
    }

    private static func withoutSecretParameters(_ url: String) -> String {
        guard let mark = url.utf8.firstIndex(of: 0x3f) else { return url }
        let query = url[url.index(after: mark)...]
        let parameters = query.split(separator: "&", omittingEmptySubsequences: false).map { parameter -> String in
            guard let equals = parameter.utf8.firstIndex(of: 0x3d) else { return String(parameter) }
            let name = parameter[..<equals].lowercased().filter { $0 != "-" && $0 != "_" }
            return secretNames.contains(where: name.hasSuffix) ? "\(parameter[...equals])…" : String(parameter)
        }
        return url[...mark] + parameters.joined(separator: "&")
    }

    /// Compared with the end of a name, without `-` and `_`: `X-Amz-Signature`, `access_token`.
    private static let secretNames = [
        "token", "key", "pass", "passphrase", "sas", "keyid", "password", "passwd", "pwd", "secret", "sig", "signature", "auth",
        "authorization", "credential",
        "credentials", "session", "sessionid", "sid", "jwt", "code", "policy", "hmac",
    ]
}

extension UInt8 {
    /// A byte that a URL's scheme may hold.
    fileprivate var isSchemeByte: Bool { isLetterOrDigit || "+-.".utf8.contains(self) }

    /// Of ASCII.
    var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: false
        }
    }
}

extension String {
    /// The text without control characters and at most 300 characters long: what a stranger sent must not steer a terminal.
    package var escapedForDisplay: String {
        // Almost all texts are short and plain.
        if utf8.count <= 300, utf8.allSatisfy({ 0x20...0x7e ~= $0 }) { return self }
        let start = String(String.UnicodeScalarView(unicodeScalars.prefix(300)))
        return start.withoutSteering.replacing("\n", with: "\\u{a}") + (unicodeScalars.count > 300 ? "…" : "")
    }
}

extension Mirror {
    /// The text of a value that prints as its mirror shows it, in the form in which Swift prints a struct.
    package var printed: String {
        let values = children.map { child in "\(child.label.map { "\($0): " } ?? "")\(String(reflecting: child.value))" }
        return "\(subjectType)(\(values.joined(separator: ", ")))"
    }
}

extension BinaryInteger {
    /// `1 byte`, `2 bytes`.
    func of(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
