/// A JSON object on one line, put together key by key: millions of them are written.
struct JSONLine {
    private(set) var bytes = [UInt8(ascii: "{")]

    mutating func add(_ key: StaticString, _ number: Int?) {
        open(key)
        bytes += number.map { Array(String($0).utf8) } ?? Array("null".utf8)
    }

    /// Bytes that are no UTF-8 are replaced.
    mutating func add(_ key: StaticString, _ text: (some Collection<UInt8>)?) {
        open(key)
        guard let text else {
            bytes += Array("null".utf8)
            return
        }
        quote(text)
    }

    mutating func add(_ key: StaticString, _ text: String?) { add(key, text?.utf8) }

    mutating func add(_ key: StaticString, _ object: JSONLine?) {
        open(key)
        bytes += object.map { $0.bytes + [UInt8(ascii: "}")] } ?? Array("null".utf8)
    }

    /// The object, and a line break.
    var line: [UInt8] { bytes + Array("}\n".utf8) }

    private mutating func open(_ key: StaticString) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(UInt8(ascii: "\""))
        key.withUTF8Buffer { bytes += $0 }
        bytes += [UInt8(ascii: "\""), UInt8(ascii: ":")]
    }

    private mutating func quote(_ text: some Collection<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        if text.allSatisfy({ 0x20..<0x7f ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            bytes += text
        } else {
            for scalar in String(decoding: text, as: UTF8.self).unicodeScalars { escape(scalar) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"", "\\": bytes += [UInt8(ascii: "\\"), UInt8(scalar.value)]
        case "\u{0}"..<" ", "\u{7f}"..<"\u{a0}", "\u{2028}", "\u{2029}":
            let digits = String(scalar.value, radix: 16)
            bytes += Array("\\u".utf8) + Array(repeating: UInt8(ascii: "0"), count: 4 - digits.count) + Array(digits.utf8)
        default: bytes += Array(String(scalar).utf8)
        }
    }
}
