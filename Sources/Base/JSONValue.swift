/// JSON to be written. Its keys keep their order and unknown values are `null`, as scripts that read it expect.
package indirect enum JSONValue: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByNilLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral
{
    case null
    case bool(Bool)
    case integer(Int)
    case decimal(Double)
    case string(String)
    case object([(key: String, value: JSONValue)])
    case array([JSONValue])

    package init(nilLiteral: ()) { self = .null }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements.map { (key: $0.0, value: $0.1) }) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    package init(_ number: Int?) { self = number.map { .integer($0) } ?? .null }
    package init(_ text: String?) { self = text.map { .string($0) } ?? .null }

    /// Seconds, to the millisecond.
    package init(_ time: Duration?) { self = time.map { .decimal(($0 / .milliseconds(1)).rounded() / 1000) } ?? .null }

    /// On one line.
    package var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends it on one line, without a line break. Files of a million lines are written with it.
    package func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        case .decimal(let value): bytes += (value.isFinite ? String(value) : "null").utf8
        case .string(let value): Self.quote(value, &bytes)
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.quote(member.key, &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        case .array(let items):
            bytes.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                item.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        }
    }

    private static func quote(_ text: String, _ bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        if text.utf8.allSatisfy({ 0x20..<0x7f ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            bytes += text.utf8
        } else {
            for scalar in text.unicodeScalars { escape(scalar, &bytes) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Control characters, and those that end a line for some readers, are written by their numbers.
    private static func escape(_ scalar: Unicode.Scalar, _ bytes: inout [UInt8]) {
        switch scalar {
        case "\"", "\\": bytes += [UInt8(ascii: "\\"), UInt8(scalar.value)]
        case "\u{0}"..<" ", "\u{7f}"..<"\u{a0}", "\u{2028}", "\u{2029}":
            let digits = String(scalar.value, radix: 16)
            bytes += "\\u".utf8
            bytes += String(repeating: "0", count: 4 - digits.count).utf8
            bytes += digits.utf8
        default: bytes += String(scalar).utf8
        }
    }
}
