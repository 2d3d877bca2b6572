package import GannetRedisClient

/// The Redis server behind a namespace, or all primaries of a Redis Cluster together. A value is `nil` where the user may not ask for it, or
/// a server does not report it.
package struct ServerStatus: Sendable {
    package var version: String?
    package var usedMemory: Int?
    /// Zero for a server without a limit.
    package var memoryLimit: Int?
    package var evictedKeys: Int?

    /// The server would drop jobs when its memory is full.
    package var mayEvictJobs: Bool?

    /// The server's last attempt to write its data to disk failed.
    package var isPersistenceFailing: Bool?
    package var ping: Duration

    /// Sums, and the worst of what cannot be summed up.
    fileprivate func adding(_ other: ServerStatus) -> ServerStatus {
        func sum(_ one: Int?, _ other: Int?) -> Int? { one.flatMap { one in other.map { one + $0 } } }
        var status = self
        status.version = [version, other.version].compactMap { $0 }.min()
        status.usedMemory = sum(usedMemory, other.usedMemory)
        status.memoryLimit = memoryLimit == 0 || other.memoryLimit == 0 ? 0 : sum(memoryLimit, other.memoryLimit)
        status.evictedKeys = sum(evictedKeys, other.evictedKeys)
        status.mayEvictJobs = mayEvictJobs == true ? true : other.mayEvictJobs
        status.isPersistenceFailing = isPersistenceFailing == true ? true : other.isPersistenceFailing
        status.ping = max(ping, other.ping)
        return status
    }
}

extension ClusterState {
    /// Reads the server's version, memory and persistence, and measures how quickly it answers.
    package func server() async throws(StateError) -> ServerStatus {
        try await StateError.mapping {
            let looks = try await askServers { try await server(at: $0) }
            // The others can be told of while one is away.
            let all = looks.compactMap { try? $0.get() }
            guard let first = all.first else {
                _ = try looks.first?.get()
                throw RedisError(.unavailable)
            }
            return all.dropFirst().reduce(first) { $0.adding($1) }
        }
    }

    /// Asks all servers at once. A server that is known to be away is asked only where all are.
    private func askServers<Value: Sendable>(
        _ question: @escaping @Sendable (RedisArgument) async throws -> Value
    ) async throws -> [Result<Value, StateError>] {
        let there = places.filter { connection.primary(of: $0)?.failure == nil }
        return try await withThrowingTaskGroup(of: Result<Value, StateError>.self) { group in
            for place in there.isEmpty ? places : there {
                group.addTask { try await orGiveUp(place) { try await question(place) } }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func server(at place: RedisArgument) async throws -> ServerStatus {
        let start = ContinuousClock.now
        let memory = try InfoReply(await connection.pipeline([InfoReply.command("memory")], at: place)[0])
        var status = ServerStatus(ping: ContinuousClock.now - start)
        status.usedMemory = memory?["used_memory"].flatMap { Int($0) }
        status.memoryLimit = memory?["maxmemory"].flatMap { Int($0) }
        status.mayEvictJobs = memory?.evictsAnyKey
        let replies = await connection.pipeline(["server", "stats", "persistence"].map(InfoReply.command), at: place)
        status.version = try InfoReply(replies[0])?["redis_version"]
        status.evictedKeys = try InfoReply(replies[1])?["evicted_keys"].flatMap { Int($0) }
        status.isPersistenceFailing = try InfoReply(replies[2]).map { disk in
            ["rdb_last_bgsave_status", "aof_last_bgrewrite_status", "aof_last_write_status"].contains { disk[$0] == "err" }
        }
        return status
    }

    /// Throws when the server drops keys of any kind once its memory is full: a queue there would lose jobs unnoticed.
    package func checkEviction() async throws(StateError) {
        try await StateError.mapping {
            // Without the right to ask there is no check: the operator who took the right away knows the server.
            let looks = try await askServers { place in
                (place, try InfoReply(await connection.pipeline([InfoReply.command("memory")], at: place)[0]))
            }
            // A server of a cluster may be away. It is not asked again: a replica that takes over is set up like its primary.
            for case .success((let place, let info?)) in looks {
                guard info.evictsAnyKey, let policy = info["maxmemory_policy"] else { continue }
                let server = connection.primary(of: place)?.address ?? connection.configuration.address
                throw StateError.unfitServer(
                    "Redis at \(server) drops keys when it is full (maxmemory-policy \(policy)): jobs would be lost. "
                        + "Set maxmemory-policy to noeviction, or use another Redis.")
            }
        }
    }
}

/// The answer to `INFO`: lines of `name:value`.
package struct InfoReply {
    private let text: String

    static func command(_ section: String) -> RedisCommand { RedisCommand("INFO", .string(section)) }

    /// `nil` for a user who may not ask.
    package init?(_ reply: Result<RedisReply, RedisError>) throws(RedisError) {
        if case .failure(let error) = reply, error.kind == .notPermitted { return nil }
        text = try reply.get().asString()
    }

    package subscript(_ name: String) -> String? {
        // Swift takes the CR LF at a line's end for one character.
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name + ":") }
        return line.map { String($0.dropFirst(name.utf8.count + 1)) }
    }

    /// Needs the section `memory`.
    package var evictsAnyKey: Bool { self["maxmemory_policy"]?.hasPrefix("allkeys") == true && self["maxmemory"] != "0" }
}
