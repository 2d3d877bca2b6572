import Gannet

/// Where what is shown of a queue comes from.
struct StatusSource: Sendable {
    private let cluster: Cluster
    private let queue: String

    init(_ cluster: Cluster, queue: String) {
        self.cluster = cluster
        self.queue = queue
    }

    func look() async throws(CommandFailure) -> StatusReport {
        try await CommandFailure.wrapping { () throws(ClusterError) in
            StatusReport(name: queue, report: try await cluster.report(on: queue), server: try await cluster.server())
        }
    }
}
