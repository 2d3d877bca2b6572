internal import GannetBase

/// The classes of ASCII's bytes of which URLs, headers and robots.txt are made. All other bytes belong to none of them.
extension UInt8 {
    var isDigit: Bool { 0x30...0x39 ~= self }

    var isLetterOrDigit: Bool { isDigit || 0x61...0x7a ~= self | 0x20 }

    /// A space or a tab.
    var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// A capital letter as a small one, and every other byte as it is.
    var lowercased: UInt8 { 0x41...0x5a ~= self ? self | 0x20 : self }

    /// A header's value may have tabs in it, and no other control characters.
    package var isValueByte: Bool { !isControl || self == 0x09 }

    /// RFC 9110's tchar: the characters of headers' names, and of words in their values.
    package var isTokenByte: Bool { isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }
}

extension String {
    /// Without the spaces and tabs that may stand around the value of a header.
    package var trimmedOfBlanks: String {
        guard let first = utf8.firstIndex(where: { !$0.isBlank }), let last = utf8.lastIndex(where: { !$0.isBlank }) else { return "" }
        return String(self[first...last])
    }
}

extension ArraySlice<UInt8> {
    /// Without the spaces and tabs at both ends. Of blanks alone, nothing is left at their end.
    var trimmedOfBlanks: ArraySlice<UInt8> {
        let start = drop(while: \.isBlank)
        return start.prefix(upTo: start.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? start.startIndex)
    }
}

/// Bytes that a part of a URL must not have: the control characters, the blank, everything beyond ASCII, and some more.
struct ForbiddenBytes {
    private var low: UInt64 = (1 << 33) - 1
    private var high: UInt64 = 1 << 63

    /// - Parameter others: In ASCII.
    init(and others: String) {
        for byte in others.utf8 {
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
        }
    }

    func contains(_ byte: UInt8) -> Bool {
        byte >= 0x80 || (byte < 64 ? low &>> UInt64(byte) : high &>> UInt64(byte &- 64)) & 1 == 1
    }

    // The percent-encode sets of the standard. The query's is that of http and https.
    static let userInfo = ForbiddenBytes(and: "\"#<>?^`{}/:;=@[\\]|")
    static let path = ForbiddenBytes(and: "\"#<>?^`{}")
    static let query = ForbiddenBytes(and: "\"#<>'")
    /// The standard's forbidden domain code points.
    static let domain = ForbiddenBytes(and: "#/:<>?@[\\]^|%")
}

extension [UInt8] {
    /// Appends a part of a URL with its forbidden bytes escaped. Escapes that it has stay as they are, and so does a bare `%`.
    mutating func append(_ part: ArraySlice<UInt8>, escaping forbidden: ForbiddenBytes) {
        var rest = part
        while let index = rest.firstIndex(where: forbidden.contains) {
            append(contentsOf: rest[..<index])
            append(UInt8(ascii: "%"))
            append(Self.digit(rest[index] >> 4))
            append(Self.digit(rest[index] & 15))
            rest = rest[(index + 1)...]
        }
        append(contentsOf: rest)
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10 }
}
