import ClusterState

extension Stage {
    /// What each claim in `body` took inside the server, in microseconds.
    func claimTimes(_ body: () async throws -> Void) async throws -> [Double] {
        // A queue without jobs is claimed from to learn which script that is.
        let digest = try await serverTimes { _ = try await queue.take(0) }.keys.first ?? []
        return try await serverTimes(body)[digest] ?? []
    }
}
