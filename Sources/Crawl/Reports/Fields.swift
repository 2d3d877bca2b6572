package import GannetBase

/// The members of a JSON object: each has its name, its shape for the API's document, and the way to its value. So the document cannot say
/// anything else than the answer. The names are a contract and only grow, and an unknown value is null.
package struct Fields<Subject>: Sendable {
    package struct Field: Sendable {
        fileprivate let name: String
        fileprivate let shape: AnswerShape
        fileprivate let value: @Sendable (Subject) -> JSONValue
    }

    private let fields: [Field]

    package init(_ fields: [Field]) { self.fields = fields }

    package var shape: AnswerShape { .members(fields.map { (name: $0.name, shape: $0.shape) }) }

    package func members(of subject: Subject) -> [(key: String, value: JSONValue)] {
        fields.map { (key: $0.name, value: $0.value(subject)) }
    }

    package func json(of subject: Subject) -> JSONValue { .object(members(of: subject)) }

    package func list(of subjects: [Subject]) -> JSONValue { .array(subjects.map(json)) }

    package static func + (one: Fields, other: Fields) -> Fields { Fields(one.fields + other.fields) }
}

extension Fields.Field {
    package typealias Way<Value> = @Sendable (Subject) -> Value

    static func integer(_ name: String, _ value: @escaping Way<Int>) -> Self {
        Self(name: name, shape: .integer) { .integer(value($0)) }
    }

    static func integer(_ name: String, ifKnown value: @escaping Way<Int?>) -> Self {
        Self(name: name, shape: .optional(.integer)) { JSONValue(value($0)) }
    }

    static func text(_ name: String, _ value: @escaping Way<String>) -> Self {
        Self(name: name, shape: .text) { .string(value($0)) }
    }

    static func text(_ name: String, ifKnown value: @escaping Way<String?>) -> Self {
        Self(name: name, shape: .optional(.text)) { JSONValue(value($0)) }
    }

    static func flag(_ name: String, _ value: @escaping Way<Bool>) -> Self {
        Self(name: name, shape: .flag) { .bool(value($0)) }
    }

    static func number(_ name: String, _ value: @escaping Way<Double>) -> Self {
        Self(name: name, shape: .number) { .decimal(value($0)) }
    }

    static func number(_ name: String, ifKnown value: @escaping Way<Double?>) -> Self {
        Self(name: name, shape: .optional(.number)) { value($0).map { .decimal($0) } ?? .null }
    }

    /// To the thousandth.
    static func rounded(_ name: String, _ value: @escaping Way<Double>) -> Self {
        Self(name: name, shape: .number) { .rounded(value($0)) }
    }

    /// To the thousandth.
    static func rounded(_ name: String, ifKnown value: @escaping Way<Double?>) -> Self {
        Self(name: name, shape: .optional(.number)) { .rounded(value($0)) }
    }

    /// To the millisecond.
    static func seconds(_ name: String, _ value: @escaping Way<Duration>) -> Self {
        Self(name: name, shape: .number) { JSONValue(value($0)) }
    }

    /// To the millisecond.
    static func seconds(_ name: String, ifKnown value: @escaping Way<Duration?>) -> Self {
        Self(name: name, shape: .optional(.number)) { JSONValue(value($0)) }
    }

    /// One of the words of a closed list.
    static func word<Word: RawRepresentable<String> & CaseIterable & SendableMetatype>(_ name: String, _ value: @escaping Way<Word>) -> Self
    {
        Self(name: name, shape: .word(Word.allCases.map(\.rawValue))) { .string(value($0).rawValue) }
    }

    static func word<Word: RawRepresentable<String> & CaseIterable & SendableMetatype>(
        _ name: String, ifKnown value: @escaping Way<Word?>
    ) -> Self {
        Self(name: name, shape: .optional(.word(Word.allCases.map(\.rawValue)))) { JSONValue(value($0)?.rawValue) }
    }

    static func texts(_ name: String, _ value: @escaping Way<[String]>) -> Self {
        Self(name: name, shape: .list(.text)) { .array(value($0).map { .string($0) }) }
    }

    static func integers(_ name: String, _ value: @escaping Way<[Int]>) -> Self {
        Self(name: name, shape: .list(.integer)) { .array(value($0).map { .integer($0) }) }
    }

    static func integers(_ name: String, ifKnown value: @escaping Way<[Int]?>) -> Self {
        Self(name: name, shape: .optional(.list(.integer))) { value($0).map { .array($0.map { .integer($0) }) } ?? .null }
    }

    static func list<Item>(_ name: String, _ fields: Fields<Item>, _ value: @escaping Way<[Item]>) -> Self {
        Self(name: name, shape: .list(fields.shape)) { .array(value($0).map(fields.json)) }
    }

    static func object<Part>(_ name: String, _ fields: Fields<Part>, _ value: @escaping Way<Part>) -> Self {
        Self(name: name, shape: fields.shape) { fields.json(of: value($0)) }
    }

    static func object<Part>(_ name: String, _ fields: Fields<Part>, ifKnown value: @escaping Way<Part?>) -> Self {
        Self(name: name, shape: .optional(fields.shape)) { value($0).map(fields.json) ?? .null }
    }
}

extension JSONValue {
    /// To the thousandth.
    package static func rounded(_ number: Double?) -> JSONValue { number.map { .decimal(($0 * 1000).rounded() / 1000) } ?? .null }
}

/// The shape of a JSON answer, as the OpenAPI document describes it. Answers may have more members in later versions, and never fewer.
package indirect enum AnswerShape: Sendable, ExpressibleByDictionaryLiteral {
    case text, integer, number, flag
    case word([String])
    /// The value, or null where it is not known.
    case optional(AnswerShape)
    case list(AnswerShape)
    /// An object that has all of these.
    case members([(name: String, shape: AnswerShape)])

    package init(dictionaryLiteral elements: (String, AnswerShape)...) { self = .members(elements.map { (name: $0.0, shape: $0.1) }) }

    /// An object with the members of both.
    package static func + (one: AnswerShape, other: AnswerShape) -> AnswerShape {
        guard case .members(let first) = one, case .members(let second) = other else { return one }
        return .members(first + second)
    }

    package var document: JSONValue {
        switch self {
        case .text: ["type": "string"]
        case .integer: ["type": "integer"]
        case .number: ["type": "number"]
        case .flag: ["type": "boolean"]
        case .word(let words): ["type": "string", "enum": .array(words.map { .string($0) })]
        case .optional(let shape): ["anyOf": [shape.document, ["type": "null"]]]
        case .list(let shape): ["type": "array", "items": shape.document]
        case .members(let members):
            [
                "type": "object", "required": .array(members.map { .string($0.name) }),
                "properties": .object(members.map { (key: $0.name, value: $0.shape.document) }),
            ]
        }
    }
}
