/// What a worker has to do with hosts at one moment.
package struct ActivitySnapshot: Sendable {
    /// Over which time what ended is counted.
    package let interval: Duration
    package let hosts: [HostActivity]

    /// The hosts that hold the worker up, the slowest first.
    package func slowest(_ count: Int) -> [HostActivity] {
        Array(hosts.sorted { ($0.slowness, $1.name) > ($1.slowness, $0.name) }.prefix(count))
    }

    /// Those with the most requests in flight and of late.
    func busiest(_ count: Int) -> [HostActivity] {
        Array(hosts.sorted { ($0.running, $0.finished, $1.name) > ($1.running, $1.finished, $0.name) }.prefix(count))
    }

    /// Some of the busiest and some of the slowest.
    func notable(_ count: Int) -> [HostActivity] {
        let busy = busiest(count)
        let slow = slowest(count / 2).filter { host in !busy.prefix(count / 2).contains { $0.name == host.name } }
        return busy.prefix(count - slow.count) + slow
    }
}

/// One host, as a worker sees it.
package struct HostActivity: Sendable, Equatable {
    package let name: String

    /// Requests in flight, and for how long the oldest of them.
    package internal(set) var running = 0
    package internal(set) var longest = Duration.zero

    /// Requests that ended of late, how many of them badly, and how long they took on average.
    package internal(set) var finished = 0
    package internal(set) var failed = 0
    package internal(set) var average = Duration.zero

    init(name: String) { self.name = name }

    /// How long a request takes here, as far as one can tell by now.
    package var slowness: Duration { max(longest, average) }
}
