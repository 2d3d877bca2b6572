@testable import ClusterState

/// Jobs that are deleted or put back into the queue, wherever they lie.
extension Model {
    mutating func check(sweep call: SweepCall, _ answer: JobSweep, _ step: Step) throws(Violation) {
        switch call.jobs {
        case .line(let line, let before, let looks, _):
            try check(deletionFrom: line, looks: before == nil ? looks : nil, call, answer, step)
        case .delayed(.delete): try check(deletionOfDelayed: call, answer, step)
        case .delayed(.retry): try check(hastening: call, answer, step)
        case .dead(.delete):
            let gone = jobs.filter { $0.value.isDead && call.isAsked($0.value.record, self) }
            for serial in gone.keys { jobs[serial]!.isForgotten = true }
            forgotten[call.queue] += gone.count
            try Violation.equal(answer.count, gone.count, "how many of the dead were forgotten")
            try step.after.check(is: step.before, now: step.now)
        case .dead(.retry): try check(revival: call, answer, step)
        }
    }

    /// Whether a job may be deleted. A job that ended with its batch may not.
    private func isOpen(_ found: JobLook, _ call: SweepCall) -> Bool {
        jobs[found.record.serial]!.fate == .open && call.isAsked(found.record, self)
    }

    private mutating func check(
        deletionFrom line: Line, looks: Int?, _ call: SweepCall, _ answer: JobSweep, _ step: Step
    ) throws(Violation) {
        let all = (step.before.lines[line] ?? []).filter { isOpen(step.before.jobs[$0]!, call) }
        let gone = all.filter { step.after.jobs[$0] == nil }
        try Violation.equal(answer.count, gone.count, "how many were deleted")
        // The last jobs of a list are met first.
        if looks != nil { try Violation.equal(gone, Array(all.suffix(gone.count)), "which were deleted") }
        if let looks, looks >= 500 {
            try Violation.equal(gone.count, min(all.count, call.limit), "how many were deleted of \(all)")
        }
        try Violation.require(gone.count <= call.limit, "more were deleted than asked for")
        var look = step.before
        for serial in gone {
            end(serial, .cancelled)
            look.jobs[serial] = nil
        }
        look.lines[line]?.removeAll { gone.contains($0) }
        if case .held(let queue, let priority, let host) = line, look.lines[line] == [] {
            look.hosts[host]?.marks.remove(priority + queue * 10)
        }
        try step.after.check(is: look, now: step.now)
        try checkEnd(call.queue, gone.count, step)
    }

    private mutating func check(
        deletionOfDelayed call: SweepCall, _ answer: JobSweep, _ step: Step
    ) throws(Violation) {
        let all = step.before.jobs.values.filter { $0.isDelayed && isOpen($0, call) }
        let gone = all.filter { step.after.jobs[$0.record.serial] == nil }
        try Violation.equal(gone.count, min(all.count, call.limit), "how many of the delayed are gone")
        try Violation.equal(answer.count, gone.count, "how many were deleted")
        var look = step.before
        var told: Set<Heard> = []
        // Only the chains tell in which order the URLs became free.
        let order = step.after.freed.map(\.url)
        let place = { (found: JobLook) in order.lastIndex(of: found.record.url) ?? -1 }
        for found in gone.sorted(by: { place($0) < place($1) }) {
            end(found.record.serial, .cancelled)
            look.jobs[found.record.serial] = nil
            guard case .later(_, let token) = found.place, look.flights[token]?.kind == .pausing else { continue }
            look.land(token)
            told.formUnion(look.unlock(found.record.url, by: token, .orphaned, began: step.now, now: step.now))
        }
        try step.after.check(is: look, now: step.now)
        try Violation.require(told.isSubset(of: step.heard), "\(told.subtracting(step.heard)) was not told")
        try checkEnd(call.queue, gone.count, step)
    }

    private func check(hastening call: SweepCall, _ answer: JobSweep, _ step: Step) throws(Violation) {
        let all = step.before.jobs.values.filter { $0.isDelayed && isOpen($0, call) && $0.due > step.now }
        let moved = all.filter { step.after.jobs[$0.record.serial] != $0 }
        try Violation.equal(moved.count, min(all.count, call.limit), "how many fall due now")
        try Violation.equal(answer.count, moved.count, "how many are said to")
        var look = step.before
        for found in moved {
            guard case .later(_, let token) = found.place else { continue }
            look.jobs[found.record.serial]!.place = .later(due: step.now, token)
        }
        try step.after.check(is: look, now: step.now)
        try checkWoken(call.queue, moved.count, step)
    }

    private mutating func check(revival call: SweepCall, _ answer: JobSweep, _ step: Step) throws(Violation) {
        let all = jobs.values.filter { $0.isDead && call.isAsked($0.record, self) }
        let back = all.filter { !batch(of: $0).isGone }
        try Violation.equal(answer, JobSweep(count: back.count, stuck: all.count - back.count, next: nil), "the answer")
        var look = step.before
        for job in back {
            var record = job.record
            (record.enqueued, record.crashes, record.failures, record.throttled) = (step.now, 0, 0, 0)
            let key = BatchKey(queue: record.queue, number: record.batch)
            jobs[record.serial]!.record = record
            jobs[record.serial]!.fate = .open
            batches[key]!.failed -= 1
            batches[key]!.revived += 1
            let line = Line.ready(queue: record.queue, priority: batch(of: job).options.priority.number)
            look.jobs[record.serial] = JobLook(record: record, place: .line(line))
            if look.pages[record.url]?.isNegative == true { look.pages[record.url] = nil }
        }
        // The order in which these jobs come to the ends of their lists does not matter.
        for (line, after) in step.after.lines {
            let before = look.lines[line] ?? []
            let new = after.dropFirst(before.count)
            guard case .ready = line, Set(new).isSubset(of: Set(back.map(\.record.serial))) else { continue }
            look.lines[line] = before + new
        }
        try step.after.check(is: look, now: step.now)
        try checkWoken(call.queue, back.count, step)
    }

    /// Workers that wait for the end of a queue hear of that end.
    private func checkEnd(_ queue: Int, _ gone: Int, _ step: Step) throws(Violation) {
        guard gone > 0, !jobs.values.contains(where: { $0.fate == .open && $0.record.queue == queue }) else { return }
        try checkWoken(queue, 1000, step)
    }
}

extension JobLook {
    fileprivate var due: Int { if case .later(let due, _) = place { due } else { 0 } }
    fileprivate var isDelayed: Bool { if case .later = place { true } else { false } }
}
