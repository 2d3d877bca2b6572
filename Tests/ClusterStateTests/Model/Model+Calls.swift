@testable import ClusterState

/// The calls after which it is known where everything lies, without settlements.
extension Model {
    mutating func check(
        begin queue: Int, _ name: String, _ options: BatchOptions, _ answer: BatchProgress, _ step: Step
    ) throws(Violation) {
        let key = BatchKey(queue: queue, number: answer.number)
        if batches[key] == nil { batches[key] = ModelBatch(name: name, options: options) }
        let batch = batches[key]!
        let wanted = BatchProgress(
            number: answer.number, source: "", offset: batch.offset, total: batch.total, state: batch.state, headers: batch.options.headers)
        try Violation.equal(answer, wanted, "the answer")
        try step.after.check(is: step.before, now: step.now)
    }

    mutating func check(enqueue call: EnqueueCall, _ answer: Result<EnqueueAnswer, StateError>, _ step: Step) throws(Violation) {
        let batch = batches[call.batch]!
        var look = step.before
        if batch.state == .open, batch.offset == call.from {
            accept(call, &look, step)
            if !call.jobs.isEmpty { try checkWoken(call.batch.queue, call.jobs.count, step) }
        }
        let now = batches[call.batch]!
        let open = jobs.values.count { $0.record.queue == call.batch.queue && $0.fate == .open }
        switch answer {
        case .success(let answer):
            let isPast = now.offset >= call.to
            try Violation.require(isPast || now.state == .open, "a chunk beyond the end of batch \(call.batch.number) was accepted")
            try Violation.equal(answer, EnqueueAnswer(offset: now.offset, total: now.total, open: open), "the answer")
        case .failure(let error):
            let wanted: StateError = now.state == .closed ? .batchClosed : .batchCancelled
            try Violation.require(now.state != .open && now.offset < call.to, "a chunk of batch \(call.batch.number) was refused: \(error)")
            try Violation.equal(error, wanted, "the refusal")
        }
        // Nothing but the place of a delayed job tells its token.
        for job in call.jobs {
            if case .later(let due, _)? = look.jobs[job.serial]?.place, case .later(_, let token)? = step.after.jobs[job.serial]?.place {
                look.jobs[job.serial]!.place = .later(due: due, token)
            }
        }
        try step.after.check(is: look, now: step.now)
    }

    private mutating func accept(_ call: EnqueueCall, _ look: inout StateLook, _ step: Step) {
        batches[call.batch]!.offset = call.to
        batches[call.batch]!.total += call.jobs.count
        if call.isClosing { batches[call.batch]!.state = .closed }
        let line = Line.ready(queue: call.batch.queue, priority: batches[call.batch]!.options.priority.number)
        for job in call.jobs {
            let record = JobRecord(
                serial: job.serial, queue: call.batch.queue, batch: call.batch.number, url: job.url, enqueued: step.now, crashes: 0,
                failures: 0, throttled: 0, hasHeaders: batches[call.batch]!.options.headers.lines.isEmpty ? 0 : 1)
            jobs[job.serial] = ModelJob(record: record)
            if call.delay > 0 {
                let place = Place.later(due: step.now + call.delay, Token(number: 0, nonce: 0))
                look.jobs[job.serial] = JobLook(record: record, place: place)
            } else {
                look.lines[line, default: []].append(job.serial)
                look.jobs[job.serial] = JobLook(record: record, place: .line(line))
            }
        }
    }

    /// New jobs wake as many idle workers as there are jobs.
    func checkWoken(_ queue: Int, _ count: Int, _ step: Step) throws(Violation) {
        let idle = step.before.idle[queue] ?? []
        let woken = idle.filter { step.heard.contains(Heard(channel: $0, what: "q" + queueNames[queue])) }
        try Violation.require(
            woken.count >= min(count, idle.count), "\(count) jobs came to \(queueNames[queue]), and of \(idle) only \(woken) heard of it")
    }

    func check(renew tokens: [LockToken], lease: Int, lost: Set<LockToken>, _ step: Step) throws(Violation) {
        var look = step.before
        var wanted: Set<LockToken> = []
        for token in tokens {
            if let flight = look.flights[Token(token)], flight.ends > step.lived, flight.kind != .pausing {
                look.flights[Token(token)]!.ends = step.lived + lease
            } else {
                wanted.insert(token)
            }
        }
        try Violation.equal(Set(lost.map(Token.init)), Set(wanted.map(Token.init)), "what was lost")
        try step.after.check(is: look, now: step.now)
    }

    mutating func check(cancel key: BatchKey, _ count: Int, _ step: Step) throws(Violation) {
        var ends = 0
        if batches[key]!.state != .cancelled {
            batches[key]!.state = .cancelled
            for (serial, found) in step.before.jobs where found.record.batch == key.number && found.record.queue == key.queue {
                if case .leased = found.place { continue }
                end(serial, .tombstone)
                ends += 1
            }
        }
        try Violation.equal(count, ends, "how many were cancelled")
        try step.after.check(is: step.before, now: step.now)
    }

    mutating func check(reclaim queue: Int, _ count: Int, _ step: Step) throws(Violation) {
        let mine = step.before.flights.filter { $0.value.job?.queue == queue }
        try Violation.equal(count, mine.count, "how many were taken back")
        // The order is not checked here: in each list, jobs that were enqueued first stand first.
        for (serial, found) in step.after.jobs where step.before.jobs[serial] != found {
            let before = step.before.jobs[serial]!
            switch (before.place, found.place) {
            case (.leased(let token), .line(.ready)): try Violation.require(mine[token] != nil, "job \(serial) was another queue's")
            case (.line(.parked(let url)), .line(.chain)):
                try Violation.require(step.after.locks[url] == nil, "URL \(url) is in flight, and its followers were taken off")
            default: throw Violation(description: "job \(serial) went from \(before.place) to \(found.place)")
            }
            try Violation.equal(found.record, before.record, "the record of job \(serial)")
        }
        for (token, flight) in mine {
            try Violation.require(step.after.flights[token] == nil, "\(token) was not taken back")
            let serial = flight.job!.serial
            if step.after.jobs[serial] == nil { end(serial, .cancelled) }
            let isGone = batch(of: jobs[serial]!).isGone
            try Violation.require(isGone == (step.after.jobs[serial] == nil), "job \(serial) is gone, and its batch is not")
        }
        try Violation.equal(step.after.flights.count, step.before.flights.count - mine.count, "flights that are left")
    }
}
