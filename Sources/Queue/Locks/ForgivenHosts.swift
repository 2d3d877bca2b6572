internal import GannetRedisClient

extension ClusterState {
    /// Has a host asked again: that it gave no answer is forgotten, and so is the rest that it asked for. Returns whether it was in trouble.
    package func forgive(_ host: String) async throws(StateError) -> Bool {
        try await forgive([host], endsRests: true, in: partition(of: host)) > 0
    }

    /// Has all hosts asked again that gave no answer. Rests that hosts asked for go on, and so do the clocks of hosts that others ask now.
    package func forgiveHosts() async throws(StateError) {
        try await StateError.mapping {
            for partition in partitions {
                let now = try await now(in: partition)
                var troubled: [String] = []
                try await scanHosts(in: partition) { name, standing in
                    if standing.isProbing || standing.downSince > 0 || standing.restsUntil > now { troubled.append(name) }
                }
                for start in stride(from: 0, to: troubled.count, by: Self.mostForgiven) {
                    let part = Array(troubled[start..<min(troubled.count, start + Self.mostForgiven)])
                    _ = try await forgive(part, endsRests: false, in: partition)
                }
            }
        }
    }

    private static let mostForgiven = 200

    private func forgive(_ hosts: [String], endsRests: Bool, in partition: Partition) async throws(StateError) -> Int {
        try await StateError.mapping {
            let arguments = ["forgive", .integer(endsRests ? 1 : 0)] + hosts.map { RedisArgument.string($0) }
            return try await run(scripts.control, in: partition, queue: "", arguments).asInteger()
        }
    }
}
