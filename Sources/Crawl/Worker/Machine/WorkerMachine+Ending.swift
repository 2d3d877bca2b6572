internal import GannetQueue

/// How a worker stops, and when it ends.
extension WorkerMachine {
    /// A worker goes from a stage to one of the next.
    enum Stage {
        case working
        /// No more jobs are claimed. Transfers may end until then.
        case draining(until: Instant)
        /// Transfers are cancelled, and their jobs handed back.
        case handingBack(until: Instant)
        case done
    }

    struct Ending {
        var stage = Stage.working
        /// The worker drains because it was asked through Redis, and no stop has been requested since.
        var isAsked = false
        /// Until when bodies may be stored. After that their jobs are handed back too.
        var bodiesUntil: Instant?
        /// Until when a draining worker that has no begun job waits for exchanges.
        var exchangesUntil: Instant?
        var end = WorkerEnd.empty
        var failure: (any Error)?

        var isStopping: Bool { if case .working = stage { false } else { true } }
        var isHandingBack: Bool { if case .handingBack = stage { true } else { false } }
        var isDone: Bool { if case .done = stage { true } else { false } }

        /// When the stage is over at the latest.
        var stageUntil: Instant? {
            switch stage {
            case .working, .done: nil
            case .draining(let time), .handingBack(let time): time
            }
        }
    }

    /// The first stop drains, the second hands back, and the third leaves the jobs to the end of their leases.
    mutating func stopRequested(at now: Instant) {
        if ending.isAsked {
            // A supervisor that stops a draining worker must not cut its drain short: for the supervisor this is the first stop.
            ending.isAsked = false
            return
        }
        switch ending.stage {
        case .working:
            ending.end = .drained
            ending.stage = .draining(until: now + options.drainTimeout)
            handBackStock(at: now)
            if inFlight > 0 { actions.append(.report(.stopping(active: inFlight, limit: options.drainTimeout))) }
        case .draining: cutDrainShort(at: now)
        case .handingBack: leaveAll()
        case .done: break
        }
    }

    /// Somebody has asked the worker to drain, which is a first stop.
    mutating func drainAsked(at now: Instant) {
        if ending.isStopping { return }
        actions.append(.report(.drainAsked))
        stopRequested(at: now)
        ending.isAsked = true
    }

    mutating func cancelled(at now: Instant) {
        if ending.isHandingBack { return }
        ending.end = .handedBack
        handBackAll(at: now)
    }

    /// The worker cannot go on.
    mutating func fail(_ error: any Error, at now: Instant) {
        ending.failure = ending.failure ?? error
        handBackAll(at: now)
    }

    /// A worker without a job that it has begun has drained already.
    private mutating func cutDrainShort(at now: Instant) {
        if inFlight > 0 {
            ending.end = .handedBack
            actions.append(.report(.handingBack(active: inFlight, limit: options.handBackTimeout)))
        }
        handBackAll(at: now)
    }

    /// The jobs that the worker has begun. Jobs of the stock, which were never begun, may still wait to be settled as handed back.
    private var inFlight: Int { begun - jobs.values.count { if case .settling = $0.phase { $0.isUnbegun } else { false } } }

    private mutating func handBackStock(at now: Instant) {
        for token in stock {
            guard let held = jobs[token] else { continue }
            held.phase = .settling
            held.isUnbegun = true
            handBack(held.job, at: now)
        }
        stock = []
    }

    private mutating func handBackAll(at now: Instant) {
        handBackStock(at: now)
        if ending.isHandingBack { return }
        ending.stage = .handingBack(until: now + options.handBackTimeout)
        ending.bodiesUntil = now + options.handBackTimeout / 2
        for (token, held) in jobs {
            guard case .transferring = held.phase, !held.isCancelled else { continue }
            held.isCancelled = true
            actions.append(.cancel(token, .handedBack))
        }
    }

    /// The bodies have no place in time. Their URLs will be fetched again, without a charge.
    private mutating func handBackUnstored(at now: Instant) {
        ending.bodiesUntil = nil
        for held in jobs.values {
            guard case .concluding = held.phase else { continue }
            freePlace(of: held)
            held.phase = .settling
            handBack(held.job, .handedBack(JobLabel(held.job)), at: now)
        }
    }

    private mutating func leaveAll() {
        for held in jobs.values { actions.append(.report(.left(JobLabel(held.job)))) }
        actions.append(.leave(LeftBehind(jobs: jobs.count, partitions: lanesWithoutAnswer)))
        jobs = [:]
        finish()
    }

    /// An exchange without an answer may still bring jobs, which are handed back. A server of a cluster may be away, so the worker waits
    /// only as long as handing back may take.
    private mutating func boundExchanges(at now: Instant) {
        guard case .draining = ending.stage, inFlight == 0 else {
            ending.exchangesUntil = nil
            return
        }
        ending.exchangesUntil = ending.exchangesUntil ?? now + options.handBackTimeout
    }

    private var lanesWithoutAnswer: [Int] { Set(lanes.filter { !$0.isIdle }.map(\.id.partition)).sorted() }

    mutating func keepTime(at now: Instant) {
        if case .draining(let time) = ending.stage, time <= now { cutDrainShort(at: now) }
        boundExchanges(at: now)
        if let time = ending.bodiesUntil, time <= now { handBackUnstored(at: now) }
        if let time = ending.exchangesUntil, time <= now { return leaveAll() }
        if case .handingBack(let time) = ending.stage, time <= now { return leaveAll() }
        if let time = withoutNetworkUntil, time <= now { withoutNetworkUntil = nil }
        lookForHeldUp(at: now)
        lookForOverdue(at: now)
        lookForSilence(at: now)
        for index in 0..<order.count where lanes[index].visitAt.map({ $0 <= now }) ?? false {
            lanes[index].visitAt = nil
            lanes[index].mayFindWork = true
            lanes[index].vainVisits += 1
        }
    }

    mutating func finishIfDone() {
        guard jobs.isEmpty, lanes.allSatisfy(\.isIdle) else { return }
        if ending.isStopping { return finish() }
        guard options.endsWhenEmpty, !isFed else { return }
        let isEmpty = lanes.prefix(order.count).allSatisfy { !$0.mayFindWork && ($0.left == .nothing || $0.left == .missing) }
        if isEmpty { finish() }
    }

    private mutating func finish() {
        ending.stage = .done
        if ending.end == .empty, lanes.prefix(order.count).contains(where: { $0.left == .missing }) { ending.end = .missing }
        actions.append(.finish(ending.failure.map { .failure($0) } ?? .success(ending.end)))
    }
}
