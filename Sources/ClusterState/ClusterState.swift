package import RedisClient

/// The state of the cluster in Redis, and the only code that knows its keys, formats and scripts.
///
/// Each call is one script, and each may be repeated after a lost reply: an accepted chunk is not accepted twice, the same claim
/// brings the same jobs, an outcome that was written is answered as before. Random numbers and ids are parameters.
package struct ClusterState: Sendable {
    package let connection: RedisConnection
    let keys: Keys

    package init(_ connection: RedisConnection, namespace: String) {
        self.connection = connection
        keys = Keys(namespace: namespace)
    }

    /// What this version writes: another major version is refused, another minor one is lived with.
    package static let schema = "1.1"

    package func queue(_ name: String) -> QueueState { QueueState(self, name) }

    /// The channel on which the process of this name hears that there is work, or that a URL is free again.
    package func inbox(of process: String) -> String { keys.inbox(process) }

    /// Has the server write something that changes nothing: throws where it takes no writes.
    package func tryWriting() async throws(StateError) {
        try await StateError.wrapping { () throws(RedisError) in _ = try await connection.send(RedisCommand("DEL", keys.none)) }
    }

    /// Makes the namespace this schema's when it is new, and refuses it when it is another's. Throws as well when the user may not what
    /// every user has to, before anything is left half done for it.
    package func checkSchema() async throws(StateError) {
        let replies = await connection.pipeline([
            RedisCommand("SETNX", keys.schema, .string(Self.schema)), RedisCommand("GET", keys.schema),
        ])
        let found = try await StateError.wrapping { () throws(RedisError) in
            // A read-only replica refuses the first; what the second says counts.
            if case .failure(let error) = replies[0], error.kind == .notPermitted { throw error }
            return try replies[1].get().asOptionalBytes().map { String(decoding: $0, as: UTF8.self) }
        }
        guard let found else { return }
        guard found.prefix(while: { $0 != "." }) == Self.schema.prefix(while: { $0 != "." }) else { throw .otherSchema(found: found) }
        try await checkRights()
    }

    private func checkRights() async throws(StateError) {
        try await StateError.wrapping { () throws(RedisError) in
            var lacking: [String] = []
            for word in try await connection.run(ClusterScripts.rights, keys: [keys.schema, keys.none]).asArray() {
                lacking.append(try word.asString())
            }
            if !lacking.isEmpty { throw RedisError(lacking: lacking, server: connection.configuration.address.description) }
        }
    }

    func run(
        _ script: RedisScript, queue: String? = nil, count: RedisArgument? = nil, _ arguments: [RedisArgument]
    ) async throws(StateError) -> RedisReply {
        var scriptKeys = [keys.state]
        if let queue { scriptKeys.append(keys.count(of: queue)) }
        if let count { scriptKeys.append(count) }
        return try await StateError.wrapping { () throws(RedisError) in
            try await connection.run(script, keys: scriptKeys, arguments)
        }
    }

    func send(_ command: RedisCommand) async throws(StateError) -> RedisReply {
        try await StateError.wrapping { () throws(RedisError) in try await connection.send(command) }
    }
}

extension Duration {
    /// As Redis counts time; anything above zero is one at least, and what is too long for it the longest there is.
    var wholeMilliseconds: Int {
        guard self > .zero else { return 0 }
        // Lua's numbers are exact up to this many, which is some centuries.
        let longest = Int64(1) << 43
        let whole = Int(min(components.seconds, longest / 1000)) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
        return max(1, whole)
    }
}
