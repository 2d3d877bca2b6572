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
        var scheme = bytes[..<at].firstRange(of: Array("://".utf8)).map { bytes[..<$0.upperBound] } ?? []
        // Otherwise the mark is a part of the password.
        if !scheme.dropLast(3).allSatisfy(\.isSchemeByte) { scheme = [] }
        self.init(String(decoding: scheme + bytes[(at + 1)...], as: UTF8.self))
    }

    /// Also works on text that no parser would accept. Then it drops too much rather than too little.
    package static func withoutUserInfo(_ url: String) -> String { withoutUserInfo(url, endsAtFragment: true) }

    private static func withoutUserInfo(_ url: String, endsAtFragment: Bool) -> String {
        guard url.utf8.contains(where: { $0 == 0x40 || $0 == 0x25 }) else { return url }
        let bytes = Array(url.utf8)
        guard let last = endOfLastAt(bytes[...]) else { return url }
        let start = authorityStart(bytes)
        let authority = bytes[start.index...].prefix { $0 != 0x2f && $0 != 0x3f && ($0 != 0x23 || !endsAtFragment) }
        // A text without a host where it belongs is no URL. Its password may have an unescaped slash, or a URL stands further on.
        let end = endOfLastAt(authority) ?? (isHost(authority, isBare: !start.hasScheme, in: bytes) ? nil : last)
        guard let end, end >= start.index else { return url }
        return String(decoding: bytes[..<start.index] + bytes[end...], as: UTF8.self)
    }

    /// The index behind the last `@`, which may be escaped.
    private static func endOfLastAt(_ bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.last { index in bytes[index] == 0x40 || bytes[index...].starts(with: "%40".utf8) }
            .map { bytes[$0] == 0x40 ? $0 + 1 : $0 + 3 }
    }

    /// The index behind the scheme and the slashes. Browsers pass over blanks and controls before and between them, and read `\` as `/`.
    private static func authorityStart(_ bytes: [UInt8]) -> (index: Int, hasScheme: Bool) {
        let first = bytes.firstIndex { $0 > 0x20 } ?? bytes.endIndex
        // In "a:b@c://d" the first part is already user and password.
        let scheme = bytes[first...].prefix { !":/\\?#@%".utf8.contains($0) }
        if scheme.endIndex < bytes.endIndex, bytes[scheme.endIndex] == 0x3a {
            let slashes = bytes[(scheme.endIndex + 1)...].prefix { $0.isSlash || $0 <= 0x20 }
            if slashes.contains(where: \.isSlash) { return (slashes.endIndex, true) }
        }
        return (bytes[first...].prefix { $0.isSlash || $0 <= 0x20 }.endIndex, false)
    }

    /// Whether the authority, which has no `@`, can be a host with its port.
    /// - Parameter isBare: Whether no scheme stands before it. Then the text means a URL that stands further on.
    private static func isHost(_ authority: ArraySlice<UInt8>, isBare: Bool, in bytes: [UInt8]) -> Bool {
        if isBare, bytes.firstRange(of: Array("://".utf8)) != nil { return false }
        let authority = authority.prefix { $0 != 0x23 }
        let isAddress = authority.first == UInt8(ascii: "[")
        let name = authority.prefix { $0 != (isAddress ? UInt8(ascii: "]") : 0x3a) }
        let port = authority[name.endIndex...].dropFirst(isAddress ? 1 : 0)
        let digits = port.dropFirst().drop { $0 == 0x30 }
        guard port.isEmpty || port.first == 0x3a, digits.count <= 5, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return false }
        if isAddress { return name.dropFirst().allSatisfy { $0.isLetterOrDigit || ":.%".utf8.contains($0) } }
        return !name.isEmpty
            && [UInt8].percentDecoded(name).bytes.allSatisfy { $0.isLetterOrDigit || "-._~".utf8.contains($0) || $0 >= 0x80 && !isBare }
    }

    private static func withoutSecretParameters(_ url: String) -> String {
        guard let mark = url.utf8.firstIndex(of: 0x3f) else { return url }
        let query = url[url.index(after: mark)...]
        let parameters = query.split(separator: "&", omittingEmptySubsequences: false).map { parameter -> String in
            guard let equals = parameter.utf8.firstIndex(of: 0x3d) else { return String(parameter) }
            let name = [UInt8].percentDecoded(parameter.utf8[..<equals]).bytes
            return SecretNames.hasParameter(name) ? "\(parameter[...equals])…" : String(parameter)
        }
        return url[...mark] + parameters.joined(separator: "&")
    }
}

extension UInt8 {
    /// A byte that a URL's scheme may hold.
    fileprivate var isSchemeByte: Bool { isLetterOrDigit || "+-.".utf8.contains(self) }

    /// A slash of either kind.
    fileprivate var isSlash: Bool { self == 0x2f || self == 0x5c }

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
