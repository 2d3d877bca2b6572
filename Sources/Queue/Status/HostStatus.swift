/// One host, summed over all workers of a queue.
package struct HostStatus: Sendable, Equatable {
    package let name: String

    /// How many requests are in flight, and how long the oldest of them has taken so far.
    package let running: Int
    package let longest: Duration

    /// Recently ended requests: how many a second, the share of them that failed, and their average duration.
    package let endedPerSecond: Double
    package let failureShare: Double
    package let average: Duration?

    /// How many requests it may have at once: by the operator's rule, or by the workers' option.
    package let limit: Int?

    /// For how long no request starts, because the host asked for a rest or took no connection.
    package let rest: Duration?

    /// The host has not answered for too long: jobs that would have to wait for it fail.
    package let isGivenUp: Bool

    /// - Parameters:
    ///   - standings: The state that Redis has now. The counts of heartbeats are some seconds old.
    ///   - waiting: Hosts for which jobs wait. No worker tells of those that have had no request for some time.
    static func merged(
        _ records: [WorkerRecord], _ standings: [String: HostStanding], _ waiting: [WaitingHost], at now: Int
    ) -> [HostStatus] {
        var sums: [String: Sum] = [:]
        for record in records {
            for host in record.hosts { sums[host.name, default: Sum()].add(host, of: record) }
        }
        var hosts = sums.map { $1.status(of: $0, standings[$0], at: now) }
        hosts += waiting.filter { sums[$0.name] == nil }.map(Self.init)
        return hosts.sorted {
            ($0.holdsBack, $0.running, $0.endedPerSecond, $1.name) > ($1.holdsBack, $1.running, $1.endedPerSecond, $0.name)
        }
    }

    /// 1 for a host at which no request starts now, whatever waits for it.
    private var holdsBack: Int { isGivenUp || rest != nil ? 1 : 0 }

    private struct Sum {
        var running = 0
        var longest = Duration.zero
        var finished = 0
        var failed = 0
        var time = Duration.zero
        var perSecond = 0.0
        var limit: Int?

        mutating func add(_ host: HostLoad, of record: WorkerRecord) {
            running += host.running
            longest = max(longest, host.longest)
            finished += host.finished
            failed += host.failed
            time += host.average * host.finished
            // The interval of a worker that has just begun is too short for a rate, so it counts as a second.
            perSecond += Double(host.finished) / max(1, record.interval / .seconds(1))
            limit = max(limit ?? 0, record.hostLimit)
        }

        func status(of name: String, _ standing: HostStanding?, at now: Int) -> HostStatus {
            HostStatus(
                name: name, running: standing?.running ?? running, longest: longest, endedPerSecond: perSecond,
                failureShare: finished > 0 ? Double(failed) / Double(finished) : 0, average: finished > 0 ? time / finished : nil,
                limit: standing?.rule?.limit ?? limit,
                rest: standing.flatMap { $0.rest(at: now) }, isGivenUp: standing?.isGivenUp ?? false)
        }
    }
}

extension HostStatus {
    /// A host of which no worker tells.
    fileprivate init(_ host: WaitingHost) {
        self.init(
            name: host.name, running: 0, longest: .zero, endedPerSecond: 0, failureShare: 0, average: nil, limit: nil,
            rest: host.rest > .zero ? host.rest : nil, isGivenUp: host.isGivenUp)
    }
}
