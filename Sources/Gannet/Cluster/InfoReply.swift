internal import RedisClient

/// What `INFO` answers: `name:value` lines.
struct InfoReply {
    private let text: String

    /// `nil` for a user who may not ask.
    init?(_ section: String, of connection: RedisConnection) async throws(RedisError) {
        do throws(RedisError) {
            text = try await connection.send(RedisCommand("INFO", .string(section))).asString()
        } catch {
            guard error.kind == .notPermitted else { throw error }
            return nil
        }
    }

    subscript(_ name: String) -> String? {
        // Swift takes the CR LF at a line's end for one character.
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name + ":") }
        return line.map { String($0.dropFirst(name.utf8.count + 1)) }
    }
}
