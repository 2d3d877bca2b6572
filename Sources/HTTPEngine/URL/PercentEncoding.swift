/// Percent-encoding as RFC 3986 compares it (section 6.2.2).
enum PercentEncoding {
    /// The text with one spelling for each byte: unreserved ones plain, all others that are escaped with upper-case digits, and those
    /// outside ASCII escaped, as WHATWG does before it sends them. A reserved byte and its escape stay different, as they mean different
    /// things; a `%` that begins no escape is left as it is.
    static func normalized(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%"), index + 2 < bytes.count, let high = digit(bytes[index + 1]), let low = digit(bytes[index + 2]) {
                let value = high << 4 | low
                if isUnreserved(value) { result.append(value) } else { appendEscape(of: value, to: &result) }
                index += 3
            } else {
                if byte < 0x80 { result.append(byte) } else { appendEscape(of: byte, to: &result) }
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func appendEscape(of byte: UInt8, to result: inout [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
