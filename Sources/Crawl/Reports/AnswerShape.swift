package import GannetBase

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
