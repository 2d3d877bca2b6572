internal import GannetRedisClient

extension ClusterState {
    /// Has a host asked again: that it gave no answer is forgotten, and so is the rest that it asked for. Returns whether it was in trouble.
    package func forgive(_ host: String) async throws(StateError) -> Bool {
        try await forgive([host], endsRests: true, in: partition(of: host)) > 0
    }

    /// Makes URLs of a host due that wait for another attempt, and answers how many jobs these are. Jobs that were enqueued with a delay keep it.
    package func tryAgainNow(at host: String) async throws(StateError) -> Int {
        try await StateError.mapping {
            var due = 0
            for name in try await knownQueues() {
                let queue = queue(name)
                let delayed = try await queue.jobs(JobSelection(.delayed, JobFilter(host: host)), limit: Self.mostTriedAgain)
                for job in delayed.jobs where job.failures > 0 || job.putOffSince != nil {
                    var filter = JobFilter(host: host)
                    filter.url = job.entry.id
                    due += try await queue.retry(JobSelection(.delayed, filter)).count
                }
            }
            return due
        }
    }

    /// Jobs of a host whose attempts are over are few: the others wait for the host.
    private static let mostTriedAgain = 1000

    /// Hosts with the same name on other ports that have a rule, or of which something is remembered. There are some at most.
    package func hosts(named host: String) async throws(StateError) -> [String] {
        try await StateError.mapping {
            var found = try await hostRules().map(\.pattern)
            for partition in partitions {
                try await scanHosts(in: partition) { other, _ in
                    if OperatorRule.name(of: other) == OperatorRule.name(of: host) { found.append(other) }
                }
            }
            let others = Set(found.filter { $0 != host && OperatorRule.name(of: $0) == OperatorRule.name(of: host) })
            return Array(others.sorted().prefix(Self.mostNamed))
        }
    }

    private static let mostNamed = 8

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
