internal import RedisClient

/// The Redis behind a cluster; what its user may not ask is `nil`.
package struct ServerStatus: Sendable {
    package let version: String?
    package let usedMemory: Int?
    /// `nil` also for one without a limit.
    package let memoryLimit: Int?
    package let ping: Duration
}

extension ServerStatus {
    init(of connection: RedisConnection) async throws(RedisError) {
        let start = ContinuousClock.now
        let memory = try await InfoReply("memory", of: connection)
        ping = ContinuousClock.now - start
        version = try await InfoReply("server", of: connection)?["redis_version"]
        usedMemory = memory?["used_memory"].flatMap { Int($0) }
        memoryLimit = memory?["maxmemory"].flatMap { Int($0) }.flatMap { $0 == 0 ? nil : $0 }
    }
}
