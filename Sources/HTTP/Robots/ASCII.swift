/// Classes of ASCII's octets. All others belong to none of them.
enum ASCII {
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
    static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }

    /// The value of a hexadecimal digit.
    static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// The name of a client, as robots.txt and `X-Robots-Tag` have it.
enum ProductToken {
    /// The name that a text begins with, in lower case: `Gannet/1.0 (fast)` names `gannet`. Nil where the text begins with no name.
    ///
    /// RFC 9309 has letters, `-` and `_`. Names of real crawlers also have digits and points, and a name is never a part of a longer one.
    static func name(in text: ArraySlice<UInt8>) -> [UInt8]? {
        let name = text.prefix(while: isPart).map(ASCII.lowercased)
        return name.isEmpty ? nil : name
    }

    /// Whether all of the text is one name.
    static func isName(_ text: ArraySlice<UInt8>) -> Bool { !text.isEmpty && text.allSatisfy(isPart) }

    private static func isPart(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }
}
