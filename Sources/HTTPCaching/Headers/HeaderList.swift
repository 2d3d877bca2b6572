internal import HTTPEngine

/// The value of a header as a list: members with commas between them (RFC 9110, section 5.6.1).
struct HeaderList {
    /// Without the blanks around them; empty ones are left out.
    private(set) var members: [String] = []
    /// Whether every quoted string has an end.
    private(set) var isWellFormed = true

    /// Reads one header line. A comma within quotes separates nothing; a quote that does not end is none, so that nothing can hide behind it.
    init(_ value: String) {
        let bytes = Array(value.utf8)
        var start = 0
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: ","):
                append(bytes[start..<index])
                start = index + 1
            // After one without an end none is looked for again, or a row of them would take time by its square.
            case UInt8(ascii: "\"") where isWellFormed:
                if let end = Self.endOfQuotes(in: bytes, from: index) { index = end } else { isWellFormed = false }
            default:
                break
            }
            index += 1
        }
        append(bytes[start...])
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) {
        let member = String(decoding: bytes, as: UTF8.self).trimmedOfBlanks
        if !member.isEmpty { members.append(member) }
    }

    /// The index of the quote that ends the string which begins at `start`.
    private static func endOfQuotes(in bytes: [UInt8], from start: Int) -> Int? {
        var index = start + 1
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""): return index
            case UInt8(ascii: "\\"): index += 2
            default: index += 1
            }
        }
        return nil
    }
}
