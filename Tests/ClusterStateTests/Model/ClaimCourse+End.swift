@testable import ClusterState

/// Checks of a claim as a whole.
extension Model {
    /// No job overtakes another in a list. The rest of a list is its end: jobs that came back stand in front of it, and new jobs behind it.
    func check(order course: ClaimCourse) throws(Violation) {
        for (line, after) in course.step.after.lines {
            let before = course.mended.lines[line] ?? []
            let old = after.filter { before.contains($0) }
            try Violation.equal(old, Array(before.suffix(old.count)), "what is left of \(line)")
            switch line {
            case .ready: try Violation.equal(Array(after.suffix(old.count)), old, "the end of \(line)")
            case .held, .parked, .chain: try Violation.equal(Array(after.prefix(old.count)), old, "the beginning of \(line)")
            }
        }
    }

    func check(flightsAfter course: inout ClaimCourse, _ given: [Token], _ told: inout Set<Heard>) throws(Violation) {
        var look = course.mended
        let after = course.step.after
        let now = course.step.now
        for token in course.goneTokens { look.flights[token] = nil }
        for url in course.letGo { try Violation.require(course.released[url] != nil, "nobody has let go of URL \(url)") }
        for (url, token) in course.released {
            told.formUnion(look.unlock(url, by: token, .orphaned, began: now, now: now))
        }
        for token in given { look.flights[token] = after.flights[token] }
        try Violation.equal(Set(after.flights.keys), Set(look.flights.keys), "flights after the claim")
        try Violation.equal(after.flights, look.flights, "flights after the claim")
        try Violation.equal(after.pages, look.pages, "pages")
        try Violation.equal(after.waiters, look.waiters, "waiters")
        for (job, token) in zip(course.answer.jobs, given) {
            guard let flight = after.flights[token], let record = flight.job else {
                throw Violation(description: "\(token) was handed out, and is no flight of a job")
            }
            let told = [job.batch, job.enqueued, job.crashes, job.failures, job.outcome == nil ? 0 : 1]
            let delivers = flight.kind == .delivery ? 1 : 0
            try Violation.equal(
                told, [record.batch, record.enqueued, record.crashes, record.failures, delivers], "what \(token) is said to be")
        }
        for (host, count) in course.starts {
            let rule = rule(of: host)
            let room = (look.hosts[host] ?? HostLook()).room(rule, now: now)
            try Violation.require(count <= room, "\(count) requests start at host \(host), which has room for \(room)")
            look.hosts[host, default: HostLook()].running += count
            if rule.interval > .zero { look.hosts[host]!.next = now + rule.interval.wholeMilliseconds }
        }
        let wanted = look.hostsWorthKnowing(now: now)
        let found = after.hostsWorthKnowing(now: now)
        for host in Set(wanted.keys).union(found.keys) {
            // The marks of hosts are checked in all states.
            var one = found[host] ?? HostLook()
            var other = wanted[host] ?? HostLook()
            (one.marks, other.marks) = ([], [])
            // After an hour a host's past is forgotten.
            if one == HostLook(), other.running == 0, (look.hosts[host]?.cool ?? 0) + 3_600_000 < now { continue }
            try Violation.equal(one, other, "host \(host)")
        }
    }

    func checkNothingIsLeft(_ course: ClaimCourse) throws(Violation) {
        let look = course.step.after
        let now = course.step.now
        for (line, jobs) in look.lines {
            switch line {
            case .ready(course.call.queue, _) where !jobs.isEmpty:
                throw Violation(description: "jobs \(jobs) are ready, and were not handed out")
            case .held(course.call.queue, _, let host):
                let room = (look.hosts[host] ?? HostLook()).room(rule(of: host), now: now)
                try Violation.require(
                    room == 0 || freshRules.contains(host), "jobs \(jobs) are held, and host \(host) has room for \(room)")
            case .chain: throw Violation(description: "jobs \(jobs) were not taken on")
            default: break
            }
        }
        for (serial, found) in look.jobs where found.record.queue == course.call.queue {
            if case .later(let due, _) = found.place {
                try Violation.require(due > now, "job \(serial) was due at \(due), and was not handed out")
            }
        }
    }
}
