package import GannetQueue

/// Counts each host's requests in flight, and its requests that ended in the last seconds. A struct without a clock.
///
/// Ended requests are counted in windows, and the last two windows are kept. So each snapshot covers the time of one to two windows, and
/// the number of snapshots changes nothing. A window counts a limited number of hosts; further hosts are left out.
struct HostTally<Flight: Hashable & Sendable>: Sendable {
    private struct Ended {
        var finished = 0
        var failed = 0
        var time = Duration.zero

        mutating func add(_ time: Duration, isBad: Bool) {
            finished += 1
            failed += isBad ? 1 : 0
            self.time += time
        }
    }

    private var flights: [Flight: (host: String, began: ContinuousClock.Instant)] = [:]
    private var current: [String: Ended] = [:]
    private var previous: [String: Ended] = [:]
    private var currentBegan: ContinuousClock.Instant
    private var previousBegan: ContinuousClock.Instant

    static var window: Duration { .seconds(5) }
    static var mostHosts: Int { 1024 }

    var inFlight: Int { flights.count }

    init(at now: ContinuousClock.Instant) {
        currentBegan = now
        previousBegan = now
    }

    mutating func began(_ flight: Flight, host: String, at now: ContinuousClock.Instant) {
        flights[flight] = (host, now)
    }

    /// The worker cancelled the request, which says nothing about the host.
    mutating func calledOff(_ flight: Flight) { flights[flight] = nil }

    mutating func ended(_ flight: Flight, isBad: Bool = false, at now: ContinuousClock.Instant) {
        guard let (host, began) = flights.removeValue(forKey: flight) else { return }
        turn(at: now)
        if current[host] == nil, current.count >= Self.mostHosts { return }
        current[host, default: Ended()].add(now - began, isBad: isBad)
    }

    mutating func snapshot(at now: ContinuousClock.Instant) -> ActivitySnapshot {
        turn(at: now)
        var hosts: [String: HostLoad] = [:]
        for (host, began) in flights.values {
            hosts[host, default: HostLoad(name: host)].running += 1
            hosts[host]!.longest = max(hosts[host]!.longest, now - began)
        }
        let ended = previous.merging(current) {
            Ended(finished: $0.finished + $1.finished, failed: $0.failed + $1.failed, time: $0.time + $1.time)
        }
        for (host, sum) in ended {
            hosts[host, default: HostLoad(name: host)].finished = sum.finished
            hosts[host]!.failed = sum.failed
            hosts[host]!.average = sum.time / sum.finished
        }
        return ActivitySnapshot(interval: now - previousBegan, hosts: Array(hosts.values))
    }

    /// Begins the next window when the time of this one is over.
    private mutating func turn(at now: ContinuousClock.Instant) {
        guard now - currentBegan >= Self.window else { return }
        let isOld = now - currentBegan >= Self.window * 2
        previous = isOld ? [:] : current
        previousBegan = isOld ? now - Self.window : currentBegan
        current = [:]
        currentBegan = now
    }
}

/// A worker's requests by host, at one moment.
package struct ActivitySnapshot: Sendable {
    /// The length of the time for which ended requests are counted.
    package let interval: Duration
    package let hosts: [HostLoad]

    /// The hosts whose requests take longest, the slowest host first.
    package func slowest(_ count: Int) -> [HostLoad] {
        Array(hosts.sorted { ($0.slowness, $1.name) > ($1.slowness, $0.name) }.prefix(count))
    }

    /// The hosts with the most requests in flight; of equal hosts, those with the most ended requests.
    func busiest(_ count: Int) -> [HostLoad] {
        Array(hosts.sorted { ($0.running, $0.finished, $1.name) > ($1.running, $1.finished, $0.name) }.prefix(count))
    }

    /// The busiest hosts, and the slowest of the others.
    func notable(_ count: Int) -> [HostLoad] {
        let busy = busiest(count)
        let slow = slowest(count / 2).filter { host in !busy.prefix(count / 2).contains { $0.name == host.name } }
        return busy.prefix(count - slow.count) + slow
    }
}
