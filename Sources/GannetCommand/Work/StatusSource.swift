import ClusterState

/// Where what is shown of a queue comes from.
struct StatusSource: Sendable {
    private let cluster: ClusterState
    private let queue: String

    init(_ cluster: ClusterState, queue: String) {
        self.cluster = cluster
        self.queue = queue
    }

    func look() async throws(CommandFailure) -> StatusReport {
        try await CommandFailure.wrapping {
            StatusReport(name: queue, report: try await cluster.queue(queue).overview(), server: try await cluster.server())
        }
    }
}
