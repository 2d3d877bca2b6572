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

    /// - Parameter running: Requests in flight as Redis counts them now, where it does. The counts of heartbeats are some seconds old.
    static func merged(_ records: [WorkerRecord], running: [String: Int]) -> [HostStatus] {
        var sums: [String: Sum] = [:]
        for record in records {
            for host in record.hosts { sums[host.name, default: Sum()].add(host, over: record.interval) }
        }
        return sums.map { $1.status(of: $0, running: running[$0]) }.sorted {
            ($0.running, $0.endedPerSecond, $1.name) > ($1.running, $1.endedPerSecond, $0.name)
        }
    }

    private struct Sum {
        var running = 0
        var longest = Duration.zero
        var finished = 0
        var failed = 0
        var time = Duration.zero
        var perSecond = 0.0

        mutating func add(_ host: HostLoad, over interval: Duration) {
            running += host.running
            longest = max(longest, host.longest)
            finished += host.finished
            failed += host.failed
            time += host.average * host.finished
            // The interval of a worker that has just begun is too short for a rate, so it counts as a second.
            perSecond += Double(host.finished) / max(1, interval / .seconds(1))
        }

        func status(of name: String, running known: Int?) -> HostStatus {
            HostStatus(
                name: name, running: known ?? running, longest: longest, endedPerSecond: perSecond,
                failureShare: finished > 0 ? Double(failed) / Double(finished) : 0, average: finished > 0 ? time / finished : nil)
        }
    }
}
