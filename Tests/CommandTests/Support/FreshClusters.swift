import GannetTestKit

/// New clusters of three primaries for tests that break them. A new primary does not serve for two seconds, so each test has a cluster that
/// was started ahead, and the next cluster starts meanwhile.
actor FreshClusters {
    private static let shared = FreshClusters()

    private var ahead: [Bool: Task<RedisCluster, any Error>] = [:]

    /// A cluster that nobody else uses. It ends with its last reference.
    /// - Parameter appendOnly: Its servers keep their data over a restart.
    static func take(appendOnly: Bool = false) async throws -> RedisCluster {
        let cluster = try await shared.next(appendOnly).value
        // A machine at full load may have kept it from hearing of itself.
        try await cluster.isComplete()
        return cluster
    }

    private func next(_ appendOnly: Bool) -> Task<RedisCluster, any Error> {
        let next = ahead[appendOnly] ?? Self.start(appendOnly)
        ahead[appendOnly] = Self.start(appendOnly)
        return next
    }

    private static func start(_ appendOnly: Bool) -> Task<RedisCluster, any Error> {
        Task.detached { try await RedisCluster.start(replicas: 0) { $0.appendOnly = appendOnly } }
    }
}
