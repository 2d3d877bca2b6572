internal import GannetRedisClient

extension ClusterState {
    private static let mostBacklogs = 1000
    private static let blocksRead = 64

    /// The hosts for which nothing or little can be done now, the one with the most jobs first. All are counted, and some of them listed.
    /// - Parameter rules: All rules of the namespace.
    package func hostBacklogs(
        under rules: [OperatorRule]
    ) async throws(StateError) -> (hosts: [WaitingHost], count: Int) {
        let rules = Dictionary(rules.map { ($0.pattern, $0) }) { one, _ in one }
        return try await StateError.mapping {
            let queues = try await knownQueues()
            let workers = try await workers(of: queues)
            var waits = (hosts: [WaitingHost](), count: 0)
            for partition in partitions {
                let now = try await now(in: partition)
                var found: [WaitingHost] = []
                // A scan may meet a host twice.
                var seen: Set<String> = []
                try await scanHosts(in: partition) { name, standing in
                    var standing = standing
                    if standing.pace != .none, !rules.isEmpty {
                        standing.rule = OperatorRule.patterns(for: name).lazy.compactMap { rules[$0] }.first { $0.hasEffect }
                    }
                    guard var host = WaitingHost(name, standing, at: now), seen.insert(name).inserted else { return }
                    host.reason = standing.lastFailure?.failureSentence
                    waits.count += 1
                    if found.count < Self.mostBacklogs { found.append(host) }
                }
                for (index, jobs) in try await jobsAside(found.map(\.name), of: queues, in: partition).enumerated() {
                    let patience = Self.patience(with: found[index].name, of: workers) { jobs[$0, default: 0] > 0 }
                    found[index].jobs = jobs.values.reduce(0, +)
                    found[index].givenUpWithin = patience?.left(of: found[index])
                }
                // A pace without jobs keeps nobody waiting.
                let waiting = found.filter { $0.state != .paced || $0.jobs != 0 }
                waits.count -= found.count - waiting.count
                waits.hosts += waiting
            }
            waits.hosts.sort { ($0.jobs ?? 0, $0.failures, $1.name) > ($1.jobs ?? 0, $1.failures, $0.name) }
            waits.hosts.removeLast(max(0, waits.hosts.count - Self.mostBacklogs))
            return waits
        }
    }

    /// All hosts of which something is remembered. A host may come twice.
    func scanHosts(in partition: Partition, _ take: (String, HostStanding) -> Void) async throws {
        // Rules and times of queues stand in the same hash.
        try await scan("HSCAN", partition.keys.hosts, matching: "[^=?]*") { items in
            for (host, record) in items.pairs { take(try host.asString(), HostStanding(record: try record.asBytes())) }
        }
    }

    /// The queues that had workers lately.
    func knownQueues() async throws -> [String] {
        var queues: Set<String> = []
        try await scan("HSCAN", home.keys.state, matching: "queue:*") { items in
            for (field, _) in items.pairs { queues.insert(String(try field.asString().dropFirst("queue:".count))) }
        }
        return queues.sorted()
    }

    func workers(of queues: [String]) async throws -> [String: [WorkerStatus]] {
        var workers: [String: [WorkerStatus]] = [:]
        for name in queues { workers[name] = try await FetchQueue(self, name, .once).workers() }
        return workers
    }

    /// How long workers wait for a host, at most. Each run has a queue and a patience of its own, so the workers of queues with jobs at the
    /// host count. Where no queue is known to have some, all workers do.
    static func patience(
        with host: String, of workers: [String: [WorkerStatus]], where hasJobs: (String) -> Bool
    ) -> WaitPatience? {
        let own = workers.filter { queue, workers in
            hasJobs(queue) || workers.contains { $0.record?.hosts.contains { $0.name == host && $0.running > 0 } == true }
        }
        return WaitPatience.longest(of: (own.isEmpty ? workers : own).values.flatMap(\.self))
    }

    /// How many jobs stand aside for each of the hosts, by queue. All blocks of a list are taken to be like its first.
    private func jobsAside(_ hosts: [String], of queues: [String], in partition: Partition) async throws -> [[String: Int]] {
        let lists = hosts.flatMap { host in
            queues.flatMap { queue in Priority.allCases.map { partition.keys.aside(Array(host.utf8), $0, of: queue) } }
        }
        guard !lists.isEmpty else { return hosts.map { _ in [:] } }
        let looks = try await look(at: lists)
        var counts: [Int] = []
        for look in looks {
            guard look.length > 0 else {
                counts.append(0)
                continue
            }
            let replies = await connection.pipeline(look.reading(0..<Self.blocksRead))
            let sizes = try replies.flatMap { try $0.get().asArray().map { Block(try $0.asBytes())?.count ?? 1 } }
            counts.append(sizes.reduce(0, +) * look.length / max(1, sizes.count))
        }
        let priorities = Priority.allCases.count
        return hosts.indices.map { host in
            var jobs: [String: Int] = [:]
            for (index, queue) in queues.enumerated() {
                let first = (host * queues.count + index) * priorities
                jobs[queue] = counts[first..<(first + priorities)].reduce(0, +)
            }
            return jobs
        }
    }
}
