@testable import ClusterState

/// The changes that calls make, for looks as they have to be afterwards.
extension StateLook {
    /// The fetch of a URL has ended: its followers are taken off, and waiting callers are told. Another holder's lock stays as it is.
    /// - Returns: The channels that hear of it.
    mutating func unlock(_ url: Int, by token: Token, _ verdict: FreedLook.Verdict, began: Int, now: Int) -> Set<Heard> {
        guard locks[url] == nil || locks[url] == token else { return [] }
        locks[url] = nil
        if let followers = lines.removeValue(forKey: .parked(url: url)) {
            clock.chains += 1
            lines[.chain(clock.chains)] = followers
            for serial in followers { jobs[serial]!.place = .line(.chain(clock.chains)) }
            freed.append(FreedLook(chain: clock.chains, verdict: verdict, began: began, ended: now, url: url))
        }
        return Set((waiters.removeValue(forKey: url) ?? []).map { Heard(channel: $0, what: "u\(url)") })
    }

    /// Removes a lease, and with it the lease's job.
    mutating func land(_ token: Token) {
        if let job = flights.removeValue(forKey: token)?.job { jobs[job.serial] = nil }
        leaseEnds = flights.count
    }

    mutating func putFirst(_ record: JobRecord, priority: Int) {
        let line = Line.ready(queue: record.queue, priority: priority)
        lines[line, default: []].insert(record.serial, at: 0)
        jobs[record.serial] = JobLook(record: record, place: .line(line))
    }

    /// The hosts without times that are over. Nobody has to forget those at once.
    func hostsWorthKnowing(now: Int) -> [Int: HostLook] {
        hosts.mapValues {
            var host = $0
            if host.next <= now { host.next = 0 }
            if host.cool <= now { host.cool = 0 }
            return host
        }.filter { $0.value != HostLook() }
    }

    func isLive(_ token: Token, lived: Int) -> Bool { (flights[token]?.ends ?? 0) > lived }

    /// Checks that this look is as wanted. Clocks, counters and the lists of idle workers are not compared.
    func check(is wanted: StateLook, now: Int) throws(Violation) {
        for serial in Set(jobs.keys).union(wanted.jobs.keys) where jobs[serial] != wanted.jobs[serial] {
            throw Violation(
                description: "job \(serial): is \(jobs[serial].map { "\($0)" } ?? "gone"), "
                    + "has to be \(wanted.jobs[serial].map { "\($0)" } ?? "gone")")
        }
        for line in Set(lines.keys).union(wanted.lines.keys) {
            try Violation.equal(lines[line] ?? [], wanted.lines[line] ?? [], "the order in \(line)")
        }
        try Violation.equal(flights, wanted.flights, "flights")
        try Violation.equal(locks, wanted.locks, "locks")
        try Violation.equal(pages, wanted.pages, "pages")
        try Violation.equal(waiters, wanted.waiters, "waiters")
        try Violation.equal(freed, wanted.freed, "chains to take on")
        try Violation.equal(hostsWorthKnowing(now: now), wanted.hostsWorthKnowing(now: now), "hosts")
    }
}

extension HostLook {
    /// No request starts for a while. Without a length the pause doubles from time to time, but requests in flight together fail together.
    mutating func coolDown(_ length: Int?, random: Double, now: Int) {
        let isCooling = cool > now
        if length == nil && isCooling { return }
        let longest = Double(min(600_000, 1000 << level))
        let length = length ?? Int(longest * (0.5 + random / 2))
        if !isCooling { level = min(20, level + 1) }
        cool = max(cool, now + length)
        probing = max(probing, 1)
    }

    /// An answer of any kind came. While the host cools down, it is the answer to an earlier request.
    mutating func noteAnswer(now: Int) {
        failures = 0
        down = 0
        probing = min(probing, 1)
        if cool > now { return }
        level = 0
        probing = 0
    }

    mutating func noteFailure(random: Double, now: Int, patience: Int) {
        if failures == 0 { down = now }
        failures = min(255, failures + 1)
        guard failures >= 5 else { return }
        if patience > 0, now - down >= patience { probing = 2 }
        coolDown(nil, random: random, now: now)
    }

    /// How many requests may start now.
    func room(_ rule: HostRule, now: Int) -> Int {
        if cool > now || next > now { return 0 }
        let free = max(0, (probing > 0 ? 1 : rule.limit) - running)
        return rule.interval > .zero ? min(1, free) : free
    }
}
