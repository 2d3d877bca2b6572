/// One host, summed over all workers of a queue.
package struct HostStatus: Sendable, Equatable {
    package let name: String

    /// How many requests are in flight, and how long the oldest of them has taken so far.
    package private(set) var running = 0
    package private(set) var longest = Duration.zero

    /// Recently ended requests: how many a second, how many in all, how many of these failed, and how long they took together.
    package private(set) var endedPerSecond = 0.0
    private var finished = 0
    private var failed = 0
    private var time = Duration.zero

    /// How many requests it may have at once: by the operator's rule, or by the workers' option.
    package private(set) var limit: Int?

    /// For how long no request starts, because the host asked for a rest or took no connection.
    package private(set) var rest: Duration?

    /// The host has not answered for too long: jobs that would have to wait for it fail.
    package private(set) var isGivenUp = false

    private init(name: String, rest: Duration? = nil, isGivenUp: Bool = false) {
        (self.name, self.rest, self.isGivenUp) = (name, rest, isGivenUp)
    }
}

extension HostStatus {
    package var failureShare: Double { finished > 0 ? Double(failed) / Double(finished) : 0 }
    package var average: Duration? { finished > 0 ? time / finished : nil }

    /// 1 for a host at which no request starts now, whatever waits for it.
    private var holdsBack: Int { isGivenUp || rest != nil ? 1 : 0 }

    /// - Parameters:
    ///   - standings: The state that Redis has now. The counts of heartbeats are some seconds old.
    ///   - waiting: Hosts for which jobs wait. No worker tells of those that have had no request for some time.
    static func merged(
        _ records: [WorkerRecord], _ standings: [String: HostStanding], _ waiting: [WaitingHost], at now: Int
    ) -> [HostStatus] {
        var hosts: [String: HostStatus] = [:]
        for record in records {
            for host in record.hosts { hosts[host.name, default: HostStatus(name: host.name)].add(host, of: record) }
        }
        for (name, standing) in standings { hosts[name]?.note(standing, at: now) }
        for host in waiting where hosts[host.name] == nil {
            hosts[host.name] = HostStatus(name: host.name, rest: host.rest > .zero ? host.rest : nil, isGivenUp: host.isGivenUp)
        }
        return hosts.values.sorted {
            ($0.holdsBack, $0.running, $0.endedPerSecond, $1.name) > ($1.holdsBack, $1.running, $1.endedPerSecond, $0.name)
        }
    }

    private mutating func add(_ host: HostLoad, of record: WorkerRecord) {
        running += host.running
        longest = max(longest, host.longest)
        finished += host.finished
        failed += host.failed
        time += host.average * host.finished
        // The interval of a worker that has just begun is too short for a rate, so it counts as a second.
        endedPerSecond += Double(host.finished) / max(1, record.interval / .seconds(1))
        limit = max(limit ?? 0, record.hostLimit)
    }

    private mutating func note(_ standing: HostStanding, at now: Int) {
        running = standing.running
        limit = standing.rule?.limit ?? limit
        (rest, isGivenUp) = (standing.rest(at: now), standing.isGivenUp)
    }
}
