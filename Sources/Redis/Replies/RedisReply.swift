/// A server's reply, by RESP2 type.
package enum RedisReply: Sendable, Equatable {
    /// A short text such as `OK`.
    case status(String)
    case integer(Int)
    case bytes([UInt8])
    case null
    case array([RedisReply])
    /// An error inside an array, as in the reply of a script. An error that is a whole reply is thrown instead.
    ///
    /// Indirect, because the elements of arrays would otherwise be three times as large.
    indirect case error(RedisError)
}

extension RedisReply {
    package func asInteger() throws(RedisError) -> Int {
        if case .integer(let number) = self { return number }
        throw unexpected("an integer")
    }

    package func asBytes() throws(RedisError) -> [UInt8] {
        switch self {
        case .bytes(let bytes): return bytes
        case .status(let text): return Array(text.utf8)
        default: throw unexpected("a string")
        }
    }

    /// `nil` for a null reply.
    package func asOptionalBytes() throws(RedisError) -> [UInt8]? {
        if case .null = self { return nil }
        return try asBytes()
    }

    /// Bytes that are not UTF-8 become replacement characters.
    package func asString() throws(RedisError) -> String {
        if case .status(let text) = self { return text }
        return String(decoding: try asBytes(), as: UTF8.self)
    }

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
