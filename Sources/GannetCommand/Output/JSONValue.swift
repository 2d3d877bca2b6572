/// JSON whose keys keep their order and whose unknown values are `null`, as scripts that read it expect.
indirect enum JSONValue: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByNilLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral
{
    case null
    case bool(Bool)
    case integer(Int)
    case decimal(Double)
    case string(String)
    case object([(key: String, value: JSONValue)])
    case array([JSONValue])

    init(nilLiteral: ()) { self = .null }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(integerLiteral value: Int) { self = .integer(value) }
    init(stringLiteral value: String) { self = .string(value) }
    init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements.map { (key: $0.0, value: $0.1) }) }
    init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    init(_ number: Int?) { self = number.map { .integer($0) } ?? .null }
    init(_ text: String?) { self = text.map { .string($0) } ?? .null }

    /// Seconds, to the millisecond.
    init(_ time: Duration?) { self = time.map { .decimal(($0 / .milliseconds(1)).rounded() / 1000) } ?? .null }

    /// On one line.
    var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .decimal(let value): value.isFinite ? String(value) : "null"
        case .string(let value): Self.quoted(value)
        case .object(let members):
            "{" + members.map { Self.quoted($0.key) + ":" + $0.value.text }.joined(separator: ",") + "}"
        case .array(let items): "[" + items.map(\.text).joined(separator: ",") + "]"
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\u{0}"..<" ", "\u{7f}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
