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
