@testable import ClusterState

extension Model {
    /// Checks what holds after every call.
    func checkInvariants(_ look: StateLook, now: Int, lived: Int) throws(Violation) {
        try Violation.require(look.strange.isEmpty, "there is \(look.strange.joined(separator: ", "))")
        try checkJobs(look)
        try checkFlights(look, lived: lived)
        try checkHosts(look, now: now)
        try checkCounts(look)
    }

    private func checkJobs(_ look: StateLook) throws(Violation) {
        for (serial, found) in look.jobs {
            guard let job = jobs[serial] else {
                throw Violation(description: "job \(serial) lies at \(found.place) and was never accepted")
            }
            try Violation.require(
                job.fate == .open || job.fate == .tombstone, "job \(serial) ended as \(job.fate) and lies at \(found.place)")
            try Violation.equal(found.record, job.record, "job \(serial) at \(found.place)")
            let priority = batch(of: job).options.priority.number
            let queue = job.record.queue
            switch found.place {
            case .line(.ready(let itsQueue, let itsPriority)):
                try Violation.require(itsQueue == queue && itsPriority == priority, "job \(serial) stands in the line \(found.place)")
            case .line(.held(let itsQueue, let itsPriority, let host)):
                let isRight = itsQueue == queue && itsPriority == priority && host == self.host(of: job.record.url)
                try Violation.require(isRight, "job \(serial) is held in \(found.place)")
            case .line(.parked(let url)): try Violation.equal(url, job.record.url, "the URL for which job \(serial) is parked")
            case .line(.chain), .later, .leased: break
            }
        }
        for (serial, job) in jobs where job.fate == .open || job.fate == .tombstone {
            try Violation.require(look.jobs[serial] != nil, "job \(serial) is nowhere")
        }
    }

    private func checkFlights(_ look: StateLook, lived: Int) throws(Violation) {
        try Violation.equal(look.leaseEnds, look.flights.count, "how many leases have an end")
        let moves = look.flights.values.count { $0.kind == .job && $0.movedTo != nil }
        try Violation.equal(look.moves, moves, "how many requests are noted at other hosts")
        for (token, flight) in look.flights {
            try Violation.require(flight.ends >= 0, "\(token) has no end")
            guard flight.kind != .delivery, flight.ends > lived else { continue }
            try Violation.equal(look.locks[flight.url], token, "the lock of URL \(flight.url), in flight,")
        }
        for (url, token) in look.locks {
            guard let flight = look.flights[token] else {
                throw Violation(description: "URL \(url) is locked by \(token), which is no flight")
            }
            try Violation.require(flight.kind != .delivery && flight.url == url, "URL \(url) is locked by \(token) of URL \(flight.url)")
        }
        for url in look.waiters.keys {
            try Violation.require(look.locks[url] != nil, "callers wait for URL \(url), which is not in flight")
        }
        for case .parked(let url) in look.lines.keys {
            try Violation.require(look.locks[url] != nil, "jobs are parked for URL \(url), which is not in flight")
        }
        let chains = look.lines.keys.compactMap { if case .chain(let number) = $0 { number } else { nil } }
        try Violation.equal(look.freed.map(\.chain).sorted(), chains.sorted(), "the chains that claims know of")
    }

    private func checkHosts(_ look: StateLook, now: Int) throws(Violation) {
        var running: [Int: Int] = [:]
        for flight in look.flights.values where flight.kind == .job { running[host(of: flight), default: 0] += 1 }
        for host in Set(running.keys).union(look.hosts.keys) {
            try Violation.equal(look.hosts[host]?.running ?? 0, running[host] ?? 0, "requests in flight to host \(host)")
        }
        var marks: [Int: Set<Int>] = [:]
        for case .held(let queue, let priority, let host) in look.lines.keys {
            marks[host, default: []].insert(priority + queue * 10)
            guard let due = look.due[.held(queue: queue, priority: priority, host: host)] else {
                throw Violation(description: "jobs are held for host \(host) in \(queueNames[queue]), and nobody will look at them")
            }
            let found = look.hosts[host] ?? HostLook()
            // The time is without end only while a request is in flight, whose end changes that time. Otherwise it is not later than the
            // host opens.
            let isRight = due >= 1 << 52 ? found.running > 0 : due <= max(now, found.next, found.cool)
            try Violation.require(
                isRight, "jobs held for host \(host) are looked at at \(due), and not at \(max(now, found.next, found.cool))")
        }
        for (host, found) in look.hosts { try Violation.equal(found.marks, marks[host] ?? [], "the lines of which host \(host) knows") }
        for host in marks.keys { try Violation.require(look.hosts[host] != nil, "host \(host) does not know of its held jobs") }
        for case .held(let queue, let priority, let host) in look.due.keys {
            let isHeld = look.lines[.held(queue: queue, priority: priority, host: host)] != nil
            try Violation.require(isHeld, "host \(host) is due in \(queueNames[queue]), and nothing is held for it")
        }
    }
}
