internal import RedisClient

/// Whether a server would throw away what it was told to keep.
enum EvictionCheck {
    /// Throws when the server evicts keys of any kind once it is full: a queue in it would lose jobs without a word.
    static func run(on connection: RedisConnection) async throws(ClusterError) {
        let info = try await ClusterError.wrappingRedis { () throws(RedisError) in try await InfoReply("memory", of: connection) }
        // A user who may not ask has an operator who knows.
        guard let info, evicts(info), let policy = info["maxmemory_policy"] else { return }
        throw ClusterError(
            .unavailable,
            "Redis at \(connection.configuration.address) drops keys when it is full (maxmemory-policy \(policy)): jobs would be lost. "
                + "Set maxmemory-policy to noeviction, or use another Redis.")
    }

    /// Of the section `memory`.
    static func evicts(_ info: InfoReply) -> Bool {
        info["maxmemory_policy"]?.hasPrefix("allkeys") == true && info["maxmemory"] != "0"
    }
}
