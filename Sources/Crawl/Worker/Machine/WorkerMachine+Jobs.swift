internal import GannetBase
internal import GannetQueue
internal import GannetRedis

/// The machine's reactions to the ends of transfers and jobs.
extension WorkerMachine {
    /// A body that has waited for so long is held up.
    private static let usualWait = Duration.seconds(1)

    mutating func transferEnded(_ token: LockToken, bytes: Int?, at now: Instant) {
        guard let held = jobs[token], case .transferring = held.phase else { return }
        held.phase = .concluding(bytes: bytes ?? 0)
        transferring -= 1
        unstoredBytes += bytes ?? 0
        if bytes != nil { storing.append((held, now)) }
        rate.noteEnd()
    }

    /// Tells Redis at once: the host may have another request now, and else has it when this job's URL has been fetched.
    mutating func hostAnswered(_ token: LockToken, at now: Instant) {
        guard let held = jobs[token], case .transferring = held.phase, !lanes[held.job.partition].hasFailed else { return }
        lanes[held.job.partition].append(Lane.Outgoing(Settlement(token, held.job.id, .hostAnswered, host: .answered), since: now))
    }

    /// When the first body that waits will have waited for too long.
    var bodyDue: Instant? { storing.first.map { $0.since + Self.usualWait } }

    /// The request of a body that is held up has ended, so its host's place is given back. Otherwise one part of the store that is away
    /// would fill all hosts, whose other URLs can go on.
    mutating func lookForHeldUp(at now: Instant) {
        while let first = storing.first {
            if case .concluding = first.held.phase {
                guard first.since + Self.usualWait <= now else { break }
                first.held.isHeldUp = true
                heldUp += 1
                giveBackPlace(of: first.held.job, at: now)
            }
            _ = storing.popFirst()
        }
        // An output that works long on each body has bodies that wait as a rule.
        let standsStill = mostWaiting == nil && heldUp > 0 && (unsettled >= mostUnsettled || unstoredBytes >= Self.mostUnstoredBytes)
        if standsStill, !hasToldOfStandstill {
            hasToldOfStandstill = true
            actions.append(.report(.standstill(unsettled)))
        } else if heldUp == 0, hasToldOfStandstill {
            hasToldOfStandstill = false
            // A worker that ends has handed such jobs back.
            if !ending.isHandingBack { actions.append(.report(.standstill(nil))) }
        }
    }

    mutating func concluded(_ token: LockToken, _ conclusion: Conclusion, at now: Instant) {
        leavePlaceElsewhere(token, conclusion.settlement.id, conclusion.settlement.host, at: now)
        lookAtNetwork(after: conclusion, at: now)
        guard let held = jobs[token] else { return }
        // The worker is ending, and has handed the job back already.
        if case .settling = held.phase { return }
        freePlace(of: held)
        held.phase = .settling
        settle(held.job, Lane.Outgoing(conclusion.settlement, conclusion.report, since: now))
    }

    /// An answer shows that there is a network. A proxy that refuses one host alone keeps the others' URLs waiting no longer than that.
    private mutating func lookAtNetwork(after conclusion: Conclusion, at now: Instant) {
        if case .answered = conclusion.settlement.host { withoutNetworkUntil = nil }
        guard let pause = conclusion.networkPause else { return }
        // A URL whose time is over before that has its end to come for. Zero is for ever.
        let longest = options.retryPolicy.giveUpAfter
        withoutNetworkUntil = now + (longest > .zero ? min(pause, longest) : pause)
    }

    /// The job's lock is lost, and its transfer goes on for the job that has the lock now.
    mutating func adopted(_ token: LockToken, at now: Instant) {
        guard let held = jobs.removeValue(forKey: token) else { return }
        leavePlaceElsewhere(token, held.job.id, .none, at: now)
        freePlace(of: held)
        lanes[held.job.partition].session.holdings.remove(.lock(held.job.id), token)
        actions.append(.report(.lost(JobLabel(held.job))))
    }

    mutating func freePlace(of held: JobInHand) {
        switch held.phase {
        case .transferring: transferring -= 1
        case .concluding(let bytes):
            unstoredBytes -= bytes
            if held.isHeldUp { heldUp -= 1 }
        case .inStock, .settling: break
        }
    }

    /// Gives a job back without a charge.
    mutating func handBack(_ job: Job, _ report: WorkerReport? = nil, at now: Instant) {
        settle(job, Lane.Outgoing(Settlement(job.token, job.id, .handedBack, isDelivery: job.outcome != nil), report, since: now))
    }

    private mutating func settle(_ job: Job, _ outgoing: Lane.Outgoing) {
        if lanes[job.partition].hasFailed { leave(outgoing) } else { lanes[job.partition].append(outgoing) }
    }

    /// Leaves a job, or a place of one that goes on, to the end of its lease.
    mutating func leave(_ outgoing: Lane.Outgoing) {
        guard outgoing.settlement.outcome.endsJob else { return }
        jobs[outgoing.settlement.token] = nil
        if let job = outgoing.report?.job { actions.append(.report(.left(job))) }
    }

    /// Cancels transfers that last longer than a request may hold its URL: it hangs, and others will take its URL over.
    mutating func lookForOverdue(at now: Instant) {
        let pause = options.longestHold / 8
        guard transferring > 0 else {
            lookForOverdueAt = nil
            return
        }
        if let at = lookForOverdueAt, at > now { return }
        defer { lookForOverdueAt = now + pause }
        guard lookForOverdueAt != nil else { return }
        for (token, held) in jobs {
            guard case .transferring = held.phase, !held.isCancelled, now - held.claimed >= options.longestHold - pause else { continue }
            held.isCancelled = true
            actions.append(.cancel(token, .overdue))
        }
    }
}
