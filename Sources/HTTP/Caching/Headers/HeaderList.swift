/// The value of a header as a list of members, separated by commas (RFC 9110, section 5.6.1).
struct HeaderList {
    /// Without surrounding blanks and without empty members.
    private(set) var members: [String] = []
    /// Whether every quoted string has an end.
    private(set) var isWellFormed = true

    /// Reads one header line. A comma within quotes separates nothing. A quote without an end counts as a plain character, so that no
    /// directive can hide behind it.
    init(_ value: String) {
        let bytes = Array(value.utf8)
        var start = 0
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: ","):
                append(bytes[start..<index])
                start = index + 1
            // Only the first quote without an end is looked for. Looking again for each would take quadratic time.
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

/// A number of seconds in a header (RFC 9111, section 1.2.2).
enum DeltaSeconds {
    /// Stands for every larger number. RFC 9111 calls these 68 years infinity.
    static let forever: Int64 = 2_147_483_648

    /// Nil unless the text is digits alone: no sign, no fraction, no unit.
    static func parse(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        // A number that does not fit into 64 bits is beyond `forever` too.
        return Int64(text).map { min($0, forever) } ?? forever
    }
}
