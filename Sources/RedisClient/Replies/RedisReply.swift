/// What a server answered, by RESP2 type.
package enum RedisReply: Sendable, Equatable {
    /// A short text such as `OK`.
    case status(String)
    case integer(Int)
    case bytes([UInt8])
    case null
    case array([RedisReply])
    /// An error inside an array, as a pipeline in a script may answer. An error as the whole reply is thrown instead.
    ///
    /// Boxed: an element of an array would otherwise take three times the room.
    indirect case error(RedisError)
}

extension RedisReply {
    /// The reply as an integer.
    package func asInteger() throws(RedisError) -> Int {
        if case .integer(let number) = self { return number }
        throw unexpected("an integer")
    }

    /// The reply as bytes.
    package func asBytes() throws(RedisError) -> [UInt8] {
        switch self {
        case .bytes(let bytes): return bytes
        case .status(let text): return Array(text.utf8)
        default: throw unexpected("a string")
        }
    }

    /// The reply as bytes, or `nil` when the server says there is nothing.
    package func asOptionalBytes() throws(RedisError) -> [UInt8]? {
        if case .null = self { return nil }
        return try asBytes()
    }

    /// The reply as text; bytes that are not UTF-8 are shown as replacement characters.
    package func asString() throws(RedisError) -> String {
        if case .status(let text) = self { return text }
        return String(decoding: try asBytes(), as: UTF8.self)
    }

    /// The reply as a row of replies.
    package func asArray() throws(RedisError) -> [RedisReply] {
        if case .array(let elements) = self { return elements }
        throw unexpected("an array")
    }

    private func unexpected(_ wanted: String) -> RedisError {
        if case .error(let error) = self { return error }
        return RedisError(.unexpectedReply, "The server answered \(kindName) where \(wanted) was expected.")
    }

    private var kindName: String {
        switch self {
        case .status: "a status"
        case .integer: "an integer"
        case .bytes: "a string"
        case .null: "nothing"
        case .array: "an array"
        case .error: "an error"
        }
    }
}
