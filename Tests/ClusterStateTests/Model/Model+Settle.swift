@testable import ClusterState

/// Checks settlements: their answers, and the state after them.
extension Model {
    mutating func check(settle call: SettleCall, _ answers: [SettleAnswer], _ step: Step) throws(Violation) {
        var look = step.before
        var wanted: [SettleAnswer] = []
        var told: Set<Heard> = []
        var failed: [Int] = []
        var settled: Set<Token> = []
        for item in call.items {
            let token = item.key
            let flight = look.flights[token]
            guard let flight, flight.ends > step.lived, flight.kind != .pausing, !settled.contains(token) else {
                wanted.append(lateAnswer(item, step.before, flight: step.before.flights[token], wasSettled: settled.contains(token)))
                if wanted.last == .fenced { totals[call.queue ?? 2].fenced += 1 }
                continue
            }
            settled.insert(token)
            wanted.append(.settled)
            told.formUnion(settle(item, flight, in: &look, call.random, step, &failed))
        }
        try Violation.equal(answers, wanted, "the answers")
        try step.after.check(is: look, now: step.now)
        for serial in failed { try Violation.equal(step.after.dead[serial], jobs[serial]!.record, "the record of dead job \(serial)") }
        try Violation.require(told.isSubset(of: step.heard), "\(told.subtracting(step.heard)) was not told")
        try checkWoken(by: call, settled, look, step)
    }

    /// Idle workers hear of jobs that came back, and of the end of all jobs. Where the caller does not claim again, they also hear of room
    /// at hosts.
    private func checkWoken(by call: SettleCall, _ settled: Set<Token>, _ look: StateLook, _ step: Step) throws(Violation) {
        var work = [0, 0]
        for token in settled {
            guard let flight = step.before.flights[token], let job = flight.job else { continue }
            if case .line(.ready)? = look.jobs[job.serial]?.place { work[job.queue] += 1 }
            if flight.kind == .job, !call.claimsAgain {
                for mark in step.before.hosts[host(of: flight)]?.marks ?? [] { work[mark / 10] += 1 }
            }
            let isEmpty = !jobs.values.contains { $0.fate == .open && $0.record.queue == job.queue }
            if isEmpty, jobs[job.serial]!.fate != .open { work[job.queue] = 1000 }
        }
        for queue in 0..<2 { try checkWoken(queue, min(work[queue], step.before.idle[queue]?.count ?? 0), step) }
    }

    /// The answer to a settlement that comes too late, or a second time.
    private func lateAnswer(_ item: SettleCall.Item, _ look: StateLook, flight: FlightLook?, wasSettled: Bool) -> SettleAnswer {
        let token = item.key
        let page = look.pages[item.url]
        let name = item.outcome.name
        if wasSettled { return .settled }
        if let page, page.token == token, page.isNegative == (name == "failed") { return .settled }
        if flight?.kind == .pausing, ["retry", "throttled", "put off"].contains(name) { return .settled }
        guard name == "fetched" || name == "revalidated" else { return .lost }
        // Another holder has had the lock, or written the outcome, since.
        let isSuperseded = (look.locks[item.url].map { $0 > token } ?? false) || (page.map { $0.token > token } ?? false)
        return isSuperseded ? .fenced : .lost
    }

    private mutating func settle(
        _ item: SettleCall.Item, _ flight: FlightLook, in look: inout StateLook, _ random: Double, _ step: Step, _ failed: inout [Int]
    ) -> Set<Heard> {
        let token = item.key
        let now = step.now
        look.land(token)
        if flight.kind == .job { leave(item, flight, in: &look, random, now) }
        var verdict = FreedLook.Verdict.orphaned
        switch item.outcome {
        case .fetched(let content, let kept), .revalidated(let content, let kept):
            verdict = .succeeded
            look.pages[item.url] = PageLook(token, flight, content, kept, isNegative: false, now: now)
            if let job = flight.job { finish(job, item) }
        case .failed(let content, let kept):
            verdict = .failed
            if flight.kind != .delivery { look.pages[item.url] = PageLook(token, flight, content, kept, isNegative: true, now: now) }
            if let job = flight.job {
                if flight.kind == .job { jobs[job.serial]!.record.failures += 1 }
                end(job.serial, .failed)
                failed.append(job.serial)
            }
        case .delivered:
            if let job = flight.job {
                end(job.serial, .done)
                totals[job.queue].cached += 1
            }
        case .retry, .throttled, .putOff:
            if let job = flight.job, put(job, off: item, flight, in: &look, step) { return [] }
        case .handedBack: comeBack(flight.job, in: &look)
        case .bodyMissing(let digest):
            if let page = look.pages[item.url], page.digest == Int(digest[0]) { look.pages[item.url] = nil }
            comeBack(flight.job, in: &look)
        }
        return flight.kind == .delivery ? [] : look.unlock(item.url, by: token, verdict, began: flight.began, now: now)
    }

    private func leave(
        _ item: SettleCall.Item, _ flight: FlightLook, in look: inout StateLook, _ random: Double, _ now: Int
    ) {
        var host = look.hosts[self.host(of: flight)] ?? HostLook()
        host.running -= 1
        if case .throttled(let length) = item.outcome {
            host.coolDown(length?.wholeMilliseconds, random: random, now: now)
        } else if item.host == .answered {
            host.noteAnswer(now: now)
        } else if item.host == .unreachable {
            host.noteFailure(random: random, now: now, patience: hostPatience)
        }
        look.hosts[self.host(of: flight)] = host
    }

    private mutating func finish(_ job: JobRecord, _ item: SettleCall.Item) {
        end(job.serial, .done)
        if item.outcome.name == "fetched" { totals[job.queue].fetched += 1 } else { totals[job.queue].revalidated += 1 }
        totals[job.queue].bytes += item.bytes
    }

    /// Puts a job off until its next attempt, unless the batch was cancelled. Returns whether the URL stays locked until then.
    private mutating func put(
        _ job: JobRecord, off item: SettleCall.Item, _ flight: FlightLook, in look: inout StateLook, _ step: Step
    ) -> Bool {
        var job = job
        let pause: Int
        switch item.outcome {
        case .retry(let length):
            job.failures += 1
            job.throttled = 0
            pause = length.wholeMilliseconds
        case .putOff(let length):
            job.throttled = job.throttled > 0 ? job.throttled : step.now
            pause = length.wholeMilliseconds
        default:
            job.throttled = job.throttled > 0 ? job.throttled : step.now
            // A job that is only to be delivered has no place at a host.
            let place = flight.kind == .job ? host(of: flight) : host(of: job.url)
            pause = max(0, (look.hosts[place] ?? HostLook()).cool - step.now)
        }
        jobs[job.serial]!.record = job
        if batch(of: jobs[job.serial]!).isGone {
            end(job.serial, .cancelled)
            return false
        }
        totals[job.queue].retried += 1
        look.jobs[job.serial] = JobLook(record: job, place: .later(due: step.now + pause, item.key))
        guard flight.kind == .job else { return false }
        look.flights[item.key] = FlightLook(
            kind: .pausing, began: step.before.flights[item.key]!.began, ends: step.lived + pause + 30_000, url: job.url)
        look.leaseEnds = look.flights.count
        return true
    }

    /// Makes a job the first of its list again, or ends it with its batch.
    mutating func comeBack(_ record: JobRecord?, in look: inout StateLook) {
        guard let record else { return }
        jobs[record.serial]!.record = record
        let batch = batch(of: jobs[record.serial]!)
        if batch.isGone { end(record.serial, .cancelled) } else { look.putFirst(record, priority: batch.options.priority.number) }
    }
}

extension PageLook {
    init(_ token: Token, _ flight: FlightLook, _ content: OutcomeContent, _ kept: Retention, isNegative: Bool, now: Int) {
        self.init(
            isNegative: isNegative, isStored: kept.isStored, began: flight.began, ended: now,
            freshUntil: now + kept.fresh.wholeMilliseconds / 1000 * 1000, digest: Int(content.digest?[0] ?? 0), token: token)
    }
}

extension Settlement.Outcome {
    var name: String {
        switch self {
        case .fetched: "fetched"
        case .revalidated: "revalidated"
        case .failed: "failed"
        case .retry: "retry"
        case .throttled: "throttled"
        case .putOff: "put off"
        case .handedBack: "back"
        case .delivered: "cached"
        case .bodyMissing: "missing"
        }
    }
}
