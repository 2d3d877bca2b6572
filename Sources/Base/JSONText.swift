/// JSON as text: strings as it writes them, and the parts of an object.
package enum JSONText {
    /// The values of an object's members, in their order: where each is in the text, with the quotes of a string. The text has no blanks
    /// between its parts, as this project writes it.
    package static func values(ofObject text: UnsafeRawBufferPointer) -> [Range<Int>] {
        var values: [Range<Int>] = []
        var (depth, start, position) = (0, 0, 0)
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""):
                position += 1
                while position < text.count, text[position] != UInt8(ascii: "\"") {
                    position += text[position] == UInt8(ascii: "\\") ? 2 : 1
                }
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ":") where depth == 1: start = position + 1
            case UInt8(ascii: ",") where depth == 1: values.append(start..<position)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0, start > 0 { values.append(start..<position) }
            default: break
            }
            position += 1
        }
        return values
    }

    /// Nil when an escape is wrong. Half of a surrogate pair becomes the replacement character, as everywhere.
    package static func unescaped(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard position < bytes.count else { return nil }
            let letter = bytes[position]
            position += 1
            switch letter {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                guard let scalar = scalar(in: bytes, at: &position) else { return nil }
                text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            default: return nil
            }
        }
        return text
    }

    /// Behind `\u`: four digits, and for a pair `\u` and four more. Half a pair is no text.
    private static func scalar(in bytes: UnsafeRawBufferPointer, at position: inout Int) -> Unicode.Scalar? {
        guard let unit = unit(in: bytes, at: position) else { return nil }
        position += 4
        guard 0xD800...0xDBFF ~= unit, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u"), let low = self.unit(in: bytes, at: position + 2), 0xDC00...0xDFFF ~= low
        else { return Unicode.Scalar(unit) }
        position += 6
        return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
    }

    private static func unit(in bytes: UnsafeRawBufferPointer, at position: Int) -> UInt32? {
        guard position + 4 <= bytes.count else { return nil }
        var value: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = byte.hexadecimalDigit else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
