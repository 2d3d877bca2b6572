internal import RedisClient

/// How the Redis behind a cluster fares; what its user may not ask, or the server does not tell, is `nil`.
package struct ServerHealth: Sendable {
    package let ping: Duration
    package let usedMemory: Int?
    /// Zero for a server without a limit.
    package let memoryLimit: Int?
    package let evictedKeys: Int?

    /// It would drop jobs once it is full.
    package let mayEvictJobs: Bool?

    /// Its last attempt to write its data to disk came to nothing.
    package let isPersistenceFailing: Bool?
}

extension ServerHealth {
    init(of connection: RedisConnection) async throws(RedisError) {
        let start = ContinuousClock.now
        _ = try await connection.send(RedisCommand("PING"))
        ping = ContinuousClock.now - start
        let memory = try await InfoReply("memory", of: connection)
        usedMemory = memory?["used_memory"].flatMap { Int($0) }
        memoryLimit = memory?["maxmemory"].flatMap { Int($0) }
        mayEvictJobs = memory.map(EvictionCheck.evicts)
        evictedKeys = try await InfoReply("stats", of: connection)?["evicted_keys"].flatMap { Int($0) }
        let disk = try await InfoReply("persistence", of: connection)
        isPersistenceFailing = disk.map { disk in
            ["rdb_last_bgsave_status", "aof_last_bgrewrite_status", "aof_last_write_status"].contains { disk[$0] == "err" }
        }
    }
}
