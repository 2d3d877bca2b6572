extension UInt8 {
    /// The value of a hexadecimal digit, in small or capital letters; nil for every other byte.
    package var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// A digit as the project writes ids and digests, with small letters only.
    package var isSmallHexadecimalDigit: Bool { hexadecimalDigit != nil && !(UInt8(ascii: "A")...UInt8(ascii: "F") ~= self) }
}

extension [UInt8] {
    /// Two small digits for each byte.
    package var hexadecimal: String {
        let digit = { (value: UInt8) in value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10 }
        return String(unsafeUninitializedCapacity: 2 * count) { text in
            for (index, byte) in enumerated() {
                text[2 * index] = digit(byte >> 4)
                text[2 * index + 1] = digit(byte & 15)
            }
            return 2 * count
        }
    }

    /// The bytes of ids and digests as `hexadecimal` writes them; nil for every other text.
    package init?(hexadecimal digits: some Collection<UInt8>) {
        let bytes = digits.withContiguousStorageIfAvailable { Self.bytes(of: $0) }
        guard let bytes = bytes ?? Array(digits).withUnsafeBufferPointer({ Self.bytes(of: $0) }) else { return nil }
        self = bytes
    }

    private static func bytes(of digits: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2), digits.allSatisfy(\.isSmallHexadecimalDigit) else { return nil }
        return (0..<digits.count / 2).map { (digits[2 * $0].hexadecimalDigit ?? 0) << 4 | (digits[2 * $0 + 1].hexadecimalDigit ?? 0) }
    }

    /// Decodes `%41` and the like. A `%` that begins no escape stays, and then the text is not strictly escaped.
    package static func percentDecoded(_ text: some Collection<UInt8>) -> (bytes: [UInt8], isStrict: Bool) {
        var bytes: [UInt8] = []
        var isStrict = true
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap(\.hexadecimalDigit)
            if digits.count == 2 {
                bytes.append(digits[0] << 4 | digits[1])
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
                isStrict = false
            }
        }
        return (bytes, isStrict)
    }
}
