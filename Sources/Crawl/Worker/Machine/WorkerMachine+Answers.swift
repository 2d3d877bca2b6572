internal import GannetBase
internal import GannetQueue

/// The machine's reactions to answers of exchanges, and to their failures.
extension WorkerMachine {
    mutating func answered(_ id: Lane.ID, _ exchange: ExchangeAnswer, after time: Duration, at now: Instant) {
        guard let index = index(of: id), let sent = lanes[index].answered(exchange.now, at: now) else { return }
        noteBack(index)
        rate.noteAnswer(after: time, at: now)
        for (outgoing, verdict) in zip(sent.outgoing, exchange.verdicts) { settled(outgoing, verdict, in: index, at: now) }
        for job in exchange.jobs { hold(job, in: index, claimed: sent.began, at: now) }
        for settlement in exchange.unreadable {
            lanes[index].session.holdings.add(settlement.isDelivery ? .delivery(settlement.token) : .lock(settlement.id), settlement.token)
            lanes[index].append(.init(settlement, .givenUp(1), since: now))
        }
        lanes[index].session.holdings.compare(exchange.held, hasNamed: sent.request.held != nil)
        guard index < order.count else { return }
        lanes[index].left = exchange.left
        look(index, exchange, sent.request, at: now)
        if !hasToldOfMissing, areAllMissing {
            hasToldOfMissing = true
            actions.append(.report(.missing))
        }
    }

    /// Notes whether another exchange may find jobs, and when.
    private mutating func look(_ index: Int, _ exchange: ExchangeAnswer, _ request: ExchangeRequest, at now: Instant) {
        let heard = lanes[index].heardMeanwhile
        lanes[index].heardMeanwhile = false
        // An exchange that asks for no jobs looks at none.
        if request.wanted + request.spare > 0 || exchange.isHeldBack { lanes[index].isHeldBack = exchange.isHeldBack }
        guard request.wanted > 0 else {
            // The jobs that have ended may make room for others.
            if !request.settlements.isEmpty || heard { lanes[index].mayFindWork = true }
            return
        }
        lanes[index].mayFindWork = exchange.isMore || heard || exchange.jobs.count >= request.wanted
        if let next = exchange.next, next < options.idleLook {
            if !exchange.jobs.isEmpty { lanes[index].vainVisits = 0 }
            let pause = options.visitPauses.pause(after: lanes[index].vainVisits, random: random(in: 0...1), atLeast: 0.5)
            lanes[index].visitAt = now + max(next, pause)
        } else {
            lanes[index].vainVisits = 0
            // Idle workers do not all look at the same time.
            lanes[index].visitAt = now + options.idleLook * random(in: 0.8...1)
        }
    }

    private var areAllMissing: Bool {
        let left = lanes.prefix(order.count).map(\.left)
        return left.contains(.missing) && left.allSatisfy { $0 == .missing || $0 == .nothing }
    }

    private mutating func settled(_ outgoing: Lane.Outgoing, _ verdict: Verdict, in index: Int, at now: Instant) {
        let settlement = outgoing.settlement
        guard settlement.outcome.endsJob else {
            if case .hostAnswered = settlement.outcome { return }
            lanes[index].session.holdings.remove(.place(settlement.id), settlement.token)
            return
        }
        jobs[settlement.token] = nil
        actions.append(.settled(after: now - outgoing.since))
        guard verdict != .malformed else {
            // The job stays held, so that its URL is not fetched again and again. It comes back at its deadline, or with the worker's end.
            if let job = outgoing.report?.job { actions.append(.report(.malformed(job))) }
            return
        }
        if settlement.isDelivery {
            lanes[index].session.holdings.remove(.delivery(settlement.token), settlement.token)
        } else {
            lanes[index].session.holdings.remove(.lock(settlement.id), settlement.token)
            lanes[index].session.holdings.remove(.place(settlement.id), settlement.token)
        }
        guard let report = outgoing.report else { return }
        switch verdict {
        case .settled: actions.append(.report(report))
        default: actions.append(.report(report.job.map { .lost($0) } ?? report))
        }
    }

    private mutating func hold(_ job: Job, in index: Int, claimed: Instant, at now: Instant) {
        let isDelivery = job.outcome != nil
        lanes[index].session.holdings.add(isDelivery ? .delivery(job.token) : .lock(job.id), job.token)
        let held = JobInHand(job: job, claimed: claimed, phase: .inStock)
        if ending.isStopping {
            held.phase = .settling
            held.isUnbegun = true
            jobs[job.token] = held
            handBack(job, at: now)
        } else if job.needsTransfer {
            jobs[job.token] = held
            stock.append(job.token)
        } else {
            held.phase = .concluding(bytes: 0)
            jobs[job.token] = held
            actions.append(.start(job))
        }
    }

    /// The lease of an incarnation has ended: others may have its jobs. Their transfers go on, because nobody may have begun them anew,
    /// and because this worker may get the same jobs again.
    mutating func leaseEnded(_ id: Lane.ID, at now: Instant) {
        guard let index = index(of: id) else { return }
        noteBack(index)
        let lost = stock.filter { jobs[$0]?.job.partition == id.partition && $0.incarnation == id.incarnation }
        for token in lost { jobs[token] = nil }
        stock.removeAll { jobs[$0] == nil }
        guard index < order.count else {
            for outgoing in lanes[index].takeOutgoing() { lanes[id.partition].append(outgoing) }
            lanes.remove(at: index)
            return
        }
        lanes[index].mayFindWork = true
        if let request = lanes[index].beginAnew(newIncarnation(), at: now) { actions.append(.send(lanes[index].id, request)) }
    }

    mutating func unanswered(_ id: Lane.ID, _ error: StateError, at now: Instant) {
        guard let index = index(of: id) else { return }
        let patience = options.outagePatience
        // In a cluster one server may be away while the others answer. Its partitions wait then, for as long as it takes.
        if error.isTransient,
            now - (lanes[index].awaySince ?? now) < patience || lanes.contains(where: { $0.hasAnswered(since: now - patience) })
        {
            noteAway(index, RedisOutage(error), at: now)
            // A lost connection is restored while the request waits for it. This pause is for errors that come at once.
            let backoff = Backoff(first: .milliseconds(10), longest: min(.seconds(1), options.lease / 8))
            lanes[index].repeatAt = now + backoff.pause(after: lanes[index].failures, random: random(in: 0...1), atLeast: 0.5)
            lanes[index].failures += 1
        } else {
            lanes[index].hasFailed = true
            for outgoing in lanes[index].takeOutgoing() { leave(outgoing) }
            fail(error, at: now)
        }
    }

    /// When the silence of a partition is long enough to be told; `nil` when nothing waits for one, or when that was told already.
    var silenceDue: Instant? {
        isWithoutRedis ? nil : lanes.lazy.filter { $0.awaySince == nil }.compactMap(\.waitsSince).min().map { $0 + options.silencePatience }
    }

    mutating func lookForSilence(at now: Instant) {
        guard let due = silenceDue, due <= now else { return }
        let isNews = !isRedisAway
        for index in lanes.indices where lanes[index].awaySince == nil {
            if let since = lanes[index].waitsSince, since + options.silencePatience <= now { lanes[index].awaySince = now }
        }
        if isNews { actions.append(.reportSilence) }
    }

    /// No connection can be restored.
    mutating func noteAway(_ outage: RedisOutage) {
        if !isRedisAway { actions.append(.report(.redis(outage))) }
        isWithoutRedis = true
    }

    /// A partition does not answer.
    private mutating func noteAway(_ index: Int, _ outage: RedisOutage, at now: Instant) {
        if !isRedisAway { actions.append(.report(.redis(outage))) }
        lanes[index].awaySince = lanes[index].awaySince ?? now
    }

    private mutating func noteBack(_ index: Int) {
        let wasAway = isRedisAway
        isWithoutRedis = false
        lanes[index].awaySince = nil
        if wasAway, !isRedisAway { actions.append(.report(.redis(.ended))) }
    }

    /// Redis is away, or a part of a cluster is.
    private var isRedisAway: Bool { isWithoutRedis || lanes.contains { $0.awaySince != nil } }
}

extension Job {
    /// False for a job whose outcome is known or settled without a request.
    var needsTransfer: Bool { outcome == nil && !isPoison && !isHopeless }
}
