import ClusterState

extension Stage {
    /// The time of each claim in `body` inside the server, in microseconds.
    func claimTimes(_ body: () async throws -> Void) async throws -> [Double] {
        // A claim on an empty queue shows which script makes claims.
        let digest = try await serverTimes { _ = try await queue.take(0) }.keys.first ?? []
        return try await serverTimes(body)[digest] ?? []
    }
}
