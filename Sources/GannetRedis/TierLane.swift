internal import GannetBase
internal import GannetQueue

/// This process' ``Session`` with one partition: its exchanges settle what was fetched, and extend the lease while something is held.
///
/// Outcomes gather while an exchange is under way. One without an answer is repeated before any other one.
actor TierLane {
    private struct Outgoing {
        let settlement: Settlement
        let waiter: CheckedContinuation<Result<Verdict, StateError>, Never>?
    }

    private let cluster: ClusterState
    nonisolated let partition: Partition
    private let lease: Duration
    private let politeness: HostPoliteness?
    /// Its exchange under way got no answer, while ``isUnderWay`` is not set. The callers of that exchange have been told.
    private var session = Session(.random())
    private var locks: [LockToken: HeldLock] = [:]
    private var waiting: [Outgoing] = []
    private var isUnderWay = false
    private var isRenewing = false
    /// The lease's end as far as this process knows.
    private var ends = ContinuousClock.now

    private static let mostOutgoing = 64

    /// - Parameter politeness: nil for callers that take no places at hosts.
    init(_ cluster: ClusterState, _ partition: Partition, lease: Duration, _ politeness: HostPoliteness? = nil) {
        self.cluster = cluster
        self.partition = partition
        self.lease = lease
        self.politeness = politeness
    }

    private func ask(for holding: Holding) -> Incarnation {
        // The lease of a process that holds nothing is not extended.
        if session.holdings.isEmpty, waiting.isEmpty, session.underWay == nil, ends <= .now { session.beginAnew(.random()) }
        session.holdings.mayHold(holding)
        return session.incarnation
    }

    /// Asks for the lock of a URL of this partition.
    func acquire(_ request: AcquireRequest) async throws(StateError) -> (AcquireAnswer, HeldLock?) {
        var request = request
        let holding = Holding.lock(request.id)
        let (incarnation, asked) = (ask(for: holding), ContinuousClock.now)
        request.incarnation = incarnation
        let answer: AcquireAnswer
        do throws(StateError) {
            answer = try await cluster.acquire(request)
        } catch {
            stopAsking(holding, incarnation)
            // The call may have taken the lock: it is given back as soon as Redis answers.
            if error.mayHaveExecuted { mayHaveGot() }
            throw error
        }
        switch answer.fate {
        case .leased(let token, _): return (answer, leased(token, holding, asked: asked))
        // The lease of the incarnation has ended, and its locks with it.
        case .ended: if incarnation == session.incarnation { loseAll() }
        default: stopAsking(holding, incarnation)
        }
        return (answer, nil)
    }

    /// - Parameter asked: The lease may have begun then.
    private func leased(_ token: LockToken, _ holding: Holding, asked: ContinuousClock.Instant) -> HeldLock {
        let lock = HeldLock()
        guard token.incarnation == session.incarnation else {
            lock.lose()
            return lock
        }
        locks[token] = lock
        got(holding, token, asked: asked)
        return lock
    }

    /// Asks for a place at a host of this partition.
    /// - Parameter id: Random, and the same when the place is given back.
    func enter(_ host: String, _ id: URLID, usual: HostRule) async throws(StateError) -> (passage: Passage, incarnation: Incarnation) {
        let (incarnation, asked) = (ask(for: .place(id)), ContinuousClock.now)
        let passage: Passage
        do throws(StateError) {
            passage = try await cluster.enter(host, id, incarnation, usual: usual, lease: lease)
        } catch {
            stopAsking(.place(id), incarnation)
            if error.mayHaveExecuted { mayHaveGot() }
            throw error
        }
        // The place went with the lease of that incarnation.
        guard incarnation == session.incarnation else { return (.lost, incarnation) }
        switch passage {
        case .there: got(.place(id), .ofPlace(incarnation), asked: asked)
        case .lost: loseAll()
        case .full, .hopeless: stopAsking(.place(id), incarnation)
        }
        return (passage, incarnation)
    }

    /// Gives a place back in the next exchange.
    func leave(_ settlement: Settlement) {
        waiting.append(Outgoing(settlement: settlement, waiter: nil))
        start()
    }

    private func got(_ holding: Holding, _ token: LockToken, asked: ContinuousClock.Instant) {
        session.holdings.add(holding, token)
        ends = max(ends, asked + lease)
        startRenewing()
    }

    /// The session has forgotten already what an earlier incarnation asked for.
    private func stopAsking(_ holding: Holding, _ incarnation: Incarnation) {
        if incarnation == session.incarnation { session.holdings.mayNotHold(holding) }
    }

    private func mayHaveGot() {
        session.holdings.mayHoldUnknown()
        ends = max(ends, .now + lease)
        startRenewing()
    }

    /// Settles a lock in the next exchange. An error means that nobody knows whether it was settled.
    func settle(_ settlement: Settlement) async -> Result<Verdict, StateError> {
        await withCheckedContinuation { waiter in
            waiting.append(Outgoing(settlement: settlement, waiter: waiter))
            start()
        }
    }

    private func loseAll() {
        for lock in locks.values { lock.lose() }
        locks = [:]
        session.end()
        session.beginAnew(.random())
    }

    private func start() {
        guard !isUnderWay else { return }
        isUnderWay = true
        // A task of its own, because it carries the outcomes of all callers. It ends with the last of them.
        Task { await send() }
    }

    /// Sends until nothing waits.
    private func send(renews: Bool = false) async {
        var renews = renews
        while renews || !waiting.isEmpty {
            var outgoing: [Outgoing] = []
            let request: ExchangeRequest
            if let unanswered = session.underWay {
                request = unanswered
            } else {
                outgoing = Array(waiting.prefix(Self.mostOutgoing))
                waiting.removeFirst(outgoing.count)
                var basis = ExchangeRequest(session.incarnation, number: 0, lease: lease)
                if let politeness { (basis.host, basis.hostPatience) = (politeness.usual, politeness.patience) }
                request = session.begin(basis, settling: outgoing.map(\.settlement))
            }
            guard await exchange(request, outgoing) else { break }
            renews = false
        }
        isUnderWay = false
    }

    /// - Returns: Whether there was an answer.
    private func exchange(_ request: ExchangeRequest, _ outgoing: [Outgoing]) async -> Bool {
        let asked = ContinuousClock.now
        do throws(StateError) {
            guard let answer = try await cluster.exchange(request, in: partition) else {
                loseAll()
                // The same outcomes again: one is accepted while nobody else has taken its lock.
                waiting = outgoing + waiting
                return true
            }
            session.end()
            ends = asked + lease
            for (one, verdict) in zip(outgoing, answer.verdicts) { end(one, .success(verdict)) }
            for settlement in request.settlements { ended(settlement) }
            session.holdings.compare(answer.held, hasNamed: request.held != nil, mayBeLate: true)
            return true
        } catch {
            if !error.isTransient { session.end() }
            let rest = waiting
            waiting = []
            for one in outgoing + rest {
                ended(one.settlement)
                end(one, .failure(error))
            }
            // The outcomes that were not sent leave their locks and places behind. Redis takes back those that the process does not name.
            if !rest.isEmpty { session.holdings.mayHoldUnknown() }
            if ends <= .now { loseAll() }
            startRenewing()
            return false
        }
    }

    /// A place has an id that no lock has.
    private func ended(_ settlement: Settlement) {
        locks[settlement.token] = nil
        session.holdings.remove(.lock(settlement.id), settlement.token)
        session.holdings.remove(.place(settlement.id), settlement.token)
    }

    private func end(_ one: Outgoing, _ answer: Result<Verdict, StateError>) { one.waiter?.resume(returning: answer) }

    /// Whether Redis has to be called for what it may hold for this process.
    private var hasReason: Bool { !session.holdings.isEmpty || session.underWay != nil || session.holdings.haveToBeNamed }

    /// Extends the lease three times within its length, until nothing is held.
    private func startRenewing() {
        guard !isRenewing else { return }
        isRenewing = true
        Task {
            while hasReason {
                try? await Task.sleep(for: session.holdings.haveToBeNamed ? min(OutageBreaker.shortestPause, lease / 3) : lease / 3)
                // Without an answer for a whole lease, Redis holds nothing for this process.
                if ends <= .now, session.holdings.isEmpty, !isUnderWay { loseAll() }
                if isUnderWay || !hasReason { continue }
                isUnderWay = true
                await send(renews: true)
            }
            isRenewing = false
        }
    }
}
