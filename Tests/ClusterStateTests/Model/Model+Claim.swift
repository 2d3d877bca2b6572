@testable import ClusterState

/// Checks claims. It is known beforehand where jobs of ended leases come back to. Any other job may only go a way that is allowed. In the
/// end nothing may be left that the claim could have handed out.
extension Model {
    mutating func check(claim call: ClaimCall, _ answer: Claim, _ step: Step) throws(Violation) {
        let given = answer.jobs.map { Token($0.token) }
        try Violation.equal(answer.unreadable.count, 0, "jobs nobody can read")
        try Violation.equal(answer.now, step.now, "queue time")
        try checkNext(call, answer, step)
        for job in answer.jobs {
            let batch = batches[BatchKey(queue: call.queue, number: job.batch)]!
            try Violation.equal(job.batchName, batch.name, "the name of the batch \(job.batch)")
            try Violation.equal(job.headers, batch.options.headers, "the headers of a job of batch \(job.batch)")
            try Violation.equal(job.trace, batch.options.trace, "the trace of a job of batch \(job.batch)")
        }
        let open = jobs.values.contains { $0.record.queue == call.queue && $0.fate == .open }
        if call.limit > 0, let last = lastClaims[call.worker], last.nonce == call.nonce, step.wall < last.until {
            let wanted = last.tokens.filter { token in
                guard let flight = step.before.flights[token], flight.job != nil, flight.ends > step.lived else { return false }
                return flight.kind == .job || step.before.pages[flight.url] != nil || step.before.hosts[host(of: flight.url)]?.probing == 2
            }
            try Violation.equal(given, wanted, "what the repeated claim brought")
            try Violation.require(answer.isMore, "a repeated claim leaves nothing to ask for")
            try step.after.check(is: step.before, now: step.now)
            return
        }
        if !given.isEmpty { lastClaims[call.worker] = (call.nonce, given, step.wall + 86_400_000) }
        let failedBefore = batches.filter { $0.key.queue == call.queue }.values.reduce(0) { $0 + $1.failed }
        var told: Set<Heard> = []
        let mended = mend(step, &told)
        for queue in 0..<2 {
            let came = mended.jobs.values.count { found in
                if case .leased? = step.before.jobs[found.record.serial]?.place, case .line(.ready(queue, _)) = found.place {
                    true
                } else {
                    false
                }
            }
            try checkWoken(queue, came, step)
        }
        try checkIdle(call, answer, step)
        var course = ClaimCourse(call: call, answer: answer, mended: mended, step: step)
        for serial in Set(mended.jobs.keys).union(step.after.jobs.keys).sorted() where mended.jobs[serial] != step.after.jobs[serial] {
            try check(job: serial, &course)
        }
        try check(order: course)
        try check(flightsAfter: &course, given, &told)
        if answer.jobs.count < call.limit, !answer.isMore, !answer.isPaused { try checkNothingIsLeft(course) }
        let failed = batches.filter { $0.key.queue == call.queue }.values.reduce(0) { $0 + $1.failed }
        try Violation.equal(answer.failed, failed - failedBefore, "jobs that failed in the claim")
        try Violation.equal(answer.isPaused, isPaused[call.queue], "whether the queue is paused")
        let isOpen = open && jobs.values.contains { $0.record.queue == call.queue && $0.fate == .open }
        try Violation.equal(answer.left, isOpen ? .jobs : .nothing, "what is left")
        try Violation.require(told.isSubset(of: step.heard), "\(told.subtracting(step.heard)) was not told")
    }

    /// A worker that got no job counts as idle, and so hears of new jobs.
    private func checkIdle(_ call: ClaimCall, _ answer: Claim, _ step: Step) throws(Violation) {
        guard call.listens, !answer.isMore || !answer.jobs.isEmpty else { return }
        let isIdle = step.after.idle[call.queue]?.contains(call.worker) ?? false
        try Violation.equal(isIdle, answer.jobs.isEmpty, "whether worker \(call.worker) counts as idle")
    }

    private static let mostTakenBack = 100

    /// The state after the ended leases were taken back.
    private mutating func mend(_ step: Step, _ told: inout Set<Heard>) -> StateLook {
        var look = step.before
        let ended = look.flights.filter { $0.value.ends <= step.lived }
        let first = ended.sorted { ($0.value.ends, $0.key) < ($1.value.ends, $1.key) }.prefix(Self.mostTakenBack)
        for (token, flight) in first.reversed() {
            look.land(token)
            if flight.kind == .job { look.hosts[host(of: flight), default: HostLook()].running -= 1 }
            var verdict = FreedLook.Verdict.orphaned
            if var job = flight.job {
                job.crashes += 1
                totals[job.queue].crashed += 1
                jobs[job.serial]!.record = job
                if job.crashes < 3 {
                    comeBack(job, in: &look)
                } else {
                    end(job.serial, .failed)
                    // The outcome says so, unless another holder has taken the URL over since.
                    if flight.kind == .job, look.locks[flight.url] == token {
                        verdict = .failed
                        look.pages[flight.url] = PageLook(
                            isNegative: true, isStored: true, began: flight.began, ended: step.now,
                            freshUntil: step.now + ClaimRequest.poisonKept.wholeMilliseconds, digest: 0, token: token)
                    }
                }
            }
            if flight.kind != .delivery {
                told.formUnion(look.unlock(flight.url, by: token, verdict, began: flight.began, now: step.now))
            }
        }
        return look
    }

    /// When to ask again: not later than something falls due, and often enough for lease time to go on.
    private func checkNext(_ call: ClaimCall, _ answer: Claim, _ step: Step) throws(Violation) {
        let look = step.after
        // A worker that got as many jobs as it asked for is told no time.
        if call.limit > 0, answer.jobs.count + answer.unreadable.count == call.limit {
            try Violation.equal(answer.next, nil, "when to ask again")
            return
        }
        var moments: [Int] = []
        if let first = look.flights.values.map(\.ends).min() { moments += [first - step.lived, look.clock.step] }
        if !isPaused[call.queue] {
            for found in look.jobs.values where found.record.queue == call.queue {
                if case .later(let due, _) = found.place { moments.append(due - step.now) }
            }
            for case (.held(call.queue, _, _), let due) in look.due where due < 1 << 52 { moments.append(due - step.now) }
        }
        // The claim asks again within a second where followers are left that nobody has taken on.
        if !look.freed.isEmpty, answer.next == .seconds(1), moments.min().map({ $0 > 1000 }) ?? true { return }
        try Violation.equal(answer.next, moments.min().map { .milliseconds(max(0, $0)) }, "when to ask again")
    }
}
