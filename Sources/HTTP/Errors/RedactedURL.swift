internal import GannetBase

/// A URL, or what was meant as one, in a form that may be printed and stored: without credentials.
public struct RedactedURL: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// Drops user and password, the values of parameters that usually hold a secret, and the fragment. A fragment is never sent, so it explains
    /// nothing, and sign-ins leave tokens there. Parameters of the query and of the path count, and so do URLs that stand inside this one.
    public init(_ url: String) {
        description = Self.withoutSecrets(url).escapedForDisplay
    }

    /// The same as it is, for programs: in its whole length, and with whatever characters it has.
    package static func withoutSecrets(_ url: String) -> String {
        // User and password first: an unescaped `#` in a password was not meant as a fragment.
        let open = withoutUserInfo(url, endsAtFragment: false)
        return InnerSecrets.hidden(in: String(Substring(open.utf8.prefix { $0 != 0x23 })))
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
        let start = authorityStart(bytes)
        if let text = endedByBackslash(bytes, start, endsAtFragment: endsAtFragment) { return text }
        guard let user = userInfo(bytes, from: start.index, isBare: !start.hasScheme, endsAtFragment: endsAtFragment) else { return url }
        return String(decoding: bytes[..<user.lowerBound] + bytes[user.upperBound...], as: UTF8.self)
    }

    /// The fetcher reads `\` as `/`, as browsers do. So a host stands before it, and what looks like a user behind it belongs to the path. It may be
    /// meant as a user all the same, and is dropped. Nil for other texts.
    private static func endedByBackslash(_ bytes: [UInt8], _ start: (index: Int, hasScheme: Bool), endsAtFragment: Bool) -> String? {
        let authority = authority(bytes, from: start.index, endsAtFragment)
        guard let end = authority.firstIndex(of: 0x5c), let user = endOfLastAt(authority[end...]) else { return nil }
        let host = authority[(endOfLastAt(authority[..<end]) ?? authority.startIndex)..<end]
        guard isHost(host, isBare: !start.hasScheme, in: bytes) else { return nil }
        return String(decoding: bytes[..<start.index] + host + [0x5c] + bytes[user...], as: UTF8.self)
    }

    private static func authority(_ bytes: [UInt8], from start: Int, _ endsAtFragment: Bool) -> ArraySlice<UInt8> {
        bytes[start...].prefix { $0 != 0x2f && $0 != 0x3f && ($0 != 0x23 || !endsAtFragment) }
    }

    /// Where user and password stand, with the `@` behind them; nil where there are none.
    /// - Parameter start: The index behind the scheme and the slashes.
    static func userInfo(_ bytes: [UInt8], from start: Int, isBare: Bool = false, endsAtFragment: Bool) -> Range<Int>? {
        let authority = authority(bytes, from: start, endsAtFragment)
        if let end = endOfLastAt(authority) { return start..<end }
        // A text without a host where it belongs is no URL. Its password may have an unescaped slash, or a URL stands further on.
        guard !isHost(authority, isBare: isBare, in: bytes), let end = endOfLastAt(bytes[start...]) else { return nil }
        return start..<end
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
        guard port.isEmpty || port.first == 0x3a, digits.count <= 5, digits.allSatisfy(\.isDigit) else { return false }
        if isAddress { return name.dropFirst().allSatisfy { $0.isLetterOrDigit || ":.%".utf8.contains($0) } }
        return !name.isEmpty
            && [UInt8].percentDecoded(name).bytes.allSatisfy { $0.isLetterOrDigit || "-._~".utf8.contains($0) || $0 >= 0x80 && !isBare }
    }
}

extension UInt8 {
    /// A byte that a URL's scheme may hold.
    fileprivate var isSchemeByte: Bool { isLetterOrDigit || "+-.".utf8.contains(self) }

    /// A slash of either kind.
    fileprivate var isSlash: Bool { self == 0x2f || self == 0x5c }
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
