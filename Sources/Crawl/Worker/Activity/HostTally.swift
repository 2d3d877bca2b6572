internal import GannetQueue

/// Counts each host's requests in flight, and its requests that ended in the last seconds. A struct without a clock.
///
/// Ended requests are counted in windows, and the last two windows are kept. So each snapshot covers the time of one to two windows, and
/// the number of snapshots changes nothing. A window counts a limited number of hosts; further hosts are left out.
struct HostTally<Flight: Hashable & Sendable>: Sendable {
    enum End {
        case good, bad
        /// The worker cancelled the request, which says nothing about the host.
        case calledOff
    }

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

    mutating func ended(_ flight: Flight, _ end: End, at now: ContinuousClock.Instant) {
        guard let (host, began) = flights.removeValue(forKey: flight), end != .calledOff else { return }
        turn(at: now)
        if current[host] == nil, current.count >= Self.mostHosts { return }
        current[host, default: Ended()].add(now - began, isBad: end == .bad)
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
