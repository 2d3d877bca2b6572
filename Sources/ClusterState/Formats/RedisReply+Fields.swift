internal import RedisClient

extension RedisError {
    /// The error for an answer in another form than this version's scripts give it.
    static func form(of what: String) -> RedisError { RedisError(.unexpectedReply, "\(what) in another form than expected") }
}

extension RedisReply {
    /// The fields of an answer that must have exactly `count` of them.
    func fields(_ count: Int, of what: String) throws(RedisError) -> [RedisReply] {
        let fields = try asArray()
        guard fields.count == count else { throw .form(of: what) }
        return fields
    }

    func asOptionalString() throws(RedisError) -> String? { try asOptionalBytes().map { String(decoding: $0, as: UTF8.self) } }

    /// A counter's value; a missing counter is zero.
    func asCount() throws(RedisError) -> Int {
        guard let text = try asOptionalString() else { return 0 }
        guard let number = Int(text) else { throw .form(of: "a counter") }
        return number
    }
}
