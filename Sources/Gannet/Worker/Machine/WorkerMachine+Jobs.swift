internal import ClusterState

/// The machine's reactions to the ends of transfers and jobs.
extension WorkerMachine {
    mutating func transferEnded(_ token: LockToken, bytes: Int) {
        guard let held = jobs[token], case .transferring = held.phase else { return }
        held.phase = .concluding(bytes: bytes)
        transferring -= 1
        unstoredBytes += bytes
        rate.noteEnd()
    }

    mutating func concluded(_ token: LockToken, _ conclusion: Conclusion, at now: Instant) {
        if let place = conclusion.place { leftPlace(place, at: now) }
        guard let held = jobs[token] else { return }
        freePlace(of: held)
        held.phase = .settling
        settle(held.job, Lane.Outcome(conclusion.settlement, conclusion.report, since: now))
    }

    /// The job's lock is lost, and its transfer goes on for the job that has the lock now.
    mutating func adopted(_ token: LockToken) {
        guard let held = jobs.removeValue(forKey: token) else { return }
        freePlace(of: held)
        lanes[held.job.partition].release(.lock(held.job.id), token)
        actions.append(.report(.lost(JobLabel(held.job))))
    }

    private mutating func freePlace(of held: HeldJob) {
        switch held.phase {
        case .transferring: transferring -= 1
        case .concluding(let bytes): unstoredBytes -= bytes
        case .inStock, .settling: break
        }
    }

    /// Gives a job back without a charge.
    mutating func handBack(_ job: Job, at now: Instant) {
        settle(job, Lane.Outcome(Settlement(job.token, job.id, .handedBack, isDelivery: job.outcome != nil), since: now))
    }

    private mutating func settle(_ job: Job, _ outcome: Lane.Outcome) {
        if lanes[job.partition].hasFailed { leave(outcome) } else { lanes[job.partition].append(outcome) }
    }

    /// Leaves a job to the end of its lease.
    mutating func leave(_ outcome: Lane.Outcome) {
        jobs[outcome.settlement.token] = nil
        if let job = outcome.report?.job { actions.append(.report(.left(job))) }
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
