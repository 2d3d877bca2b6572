internal import GannetBasics

/// Percent-encoding as RFC 3986 (section 6.2.2) and WHATWG compare it.
enum PercentEncoding {
    enum Part {
        case userInfo, path, query
    }

    /// The text with one spelling for each byte.
    ///
    /// Unreserved bytes stand plainly, other escapes have upper-case digits, and bytes that must not stand in a URL are escaped, as browsers do.
    /// A reserved byte and its escape stay different, because they mean different things. A `%` that begins no escape stays as it is.
    static func normalized(_ text: String, in part: Part) -> String {
        var text = text
        return text.withUTF8 { bytes in
            bytes.contains { $0 == percent || mustBeEscaped($0, in: part) } ? normalized(bytes, in: part) : nil
        } ?? text
    }

    private static let percent = UInt8(ascii: "%")

    private static func normalized(_ bytes: UnsafeBufferPointer<UInt8>, in part: Part) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 16)
        // Where in the result the last `%` is that begins no escape.
        var bare = -3
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == percent, index + 2 < bytes.count, let high = bytes[index + 1].hexadecimalDigit,
                let low = bytes[index + 2].hexadecimalDigit
            {
                let value = high << 4 | low
                // A digit that would make an escape of that `%` stays escaped.
                if isUnreserved(value), result.count - bare > 2 || value.hexadecimalDigit == nil {
                    result.append(value)
                } else {
                    appendEscape(of: value, to: &result)
                }
                index += 3
            } else {
                if byte == percent { bare = result.count }
                if mustBeEscaped(byte, in: part) { appendEscape(of: byte, to: &result) } else { result.append(byte) }
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func appendEscape(of byte: UInt8, to result: inout [UInt8]) {
        result.append(percent)
        result.append(hexadecimal(byte >> 4))
        result.append(hexadecimal(byte & 15))
    }

    private static func hexadecimal(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10 }

    /// By WHATWG's percent-encode sets, but for the apostrophe in a query, which to RFC 3986 is another byte than its escape.
    private static func mustBeEscaped(_ byte: UInt8, in part: Part) -> Bool {
        switch byte {
        case 0x80...0xff, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"): true
        case UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "}"): part != .query
        default: false
        }
    }

    static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "~")
    }
}
