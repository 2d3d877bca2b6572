internal import RedisClient

/// Whether a server would throw away what it was told to keep.
enum EvictionCheck {
    /// Throws when the server evicts keys of any kind once it is full: a queue in it would lose jobs without a word.
    static func run(on connection: RedisConnection) async throws(ClusterError) {
        let answer: String
        do throws(RedisError) {
            answer = try await connection.send(RedisCommand("INFO", "memory")).asString()
        } catch {
            // A user who may not ask has an operator who knows.
            if error.kind == .notPermitted { return }
            throw ClusterError(error)
        }
        guard let policy = field("maxmemory_policy", in: answer), let limit = field("maxmemory", in: answer) else { return }
        guard policy.hasPrefix("allkeys"), limit != "0" else { return }
        throw ClusterError(
            .unavailable,
            "Redis at \(connection.configuration.address) drops keys when it is full (maxmemory-policy \(policy)): jobs would be lost. "
                + "Set maxmemory-policy to noeviction, or use another Redis.")
    }

    private static func field(_ name: String, in info: String) -> Substring? {
        // Swift takes the CR LF at a line's end for one character.
        info.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name + ":") }?.dropFirst(name.count + 1)
    }
}
