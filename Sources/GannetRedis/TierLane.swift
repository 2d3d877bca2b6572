internal import GannetBase
internal import GannetQueue

/// This process' exchanges with one partition: they settle what was fetched, and extend the lease while a lock is held.
///
/// One exchange is under way at a time, and outcomes gather meanwhile. An exchange without an answer is repeated before any other one.
actor TierLane {
    private struct Outcome {
        let settlement: Settlement
        let waiter: CheckedContinuation<Result<Verdict, StateError>, Never>?
    }

    private let cluster: ClusterState
    nonisolated let partition: Partition
    private let lease: Duration
    private let politeness: HostPoliteness?
    private var incarnation = Incarnation.random()
    private var number = 0
    private var held: [LockToken: (id: URLID, lock: HeldLock)] = [:]
    /// Places at hosts, by the random ids under which Redis has them.
    private var places: Set<URLID> = []
    /// Callers that are asking for a lock or a place. Redis may have given it.
    private var asking: [Holding: Int] = [:]
    private var waiting: [Outcome] = []
    /// The exchange that got no answer. Its callers have been told.
    private var unanswered: ExchangeRequest?
    private var isUnderWay = false
    private var isRenewing = false
    /// Redis may hold a lock or a place for this process of which the process does not know.
    private var hasToName = false
    /// The lease's end as far as this process knows.
    private var ends = ContinuousClock.now

    private static let mostOutcomes = 64

    /// - Parameter politeness: nil for callers that take no places at hosts.
    init(_ cluster: ClusterState, _ partition: Partition, lease: Duration, _ politeness: HostPoliteness? = nil) {
        self.cluster = cluster
        self.partition = partition
        self.lease = lease
        self.politeness = politeness
    }

    private var holdsNothing: Bool { held.isEmpty && places.isEmpty }

    /// Begins to ask for a URL's lock, until ``answered(_:_:asked:)``.
    func ask(for id: URLID) -> Incarnation { ask(for: .lock(id)) }

    private func ask(for holding: Holding) -> Incarnation {
        // The lease of a process that holds nothing is not extended.
        if holdsNothing, waiting.isEmpty, !isUnderWay, unanswered == nil, asking.isEmpty, ends <= .now { beginAnew() }
        asking[holding, default: 0] += 1
        return incarnation
    }

    /// Asks for a place at a host of this partition.
    /// - Parameter id: Random, and the same when the place is given back.
    func enter(_ host: String, _ id: URLID, usual: HostRule) async throws(StateError) -> (passage: Passage, incarnation: Incarnation) {
        let (incarnation, asked) = (ask(for: .place(id)), ContinuousClock.now)
        defer { stopAsking(.place(id)) }
        let passage: Passage
        do throws(StateError) {
            passage = try await cluster.enter(host, id, incarnation, usual: usual, lease: lease)
        } catch {
            if error.mayHaveExecuted { mayHaveGot() }
            throw error
        }
        // The place went with the lease of that incarnation.
        guard incarnation == self.incarnation else { return (.lost, incarnation) }
        switch passage {
        case .there:
            places.insert(id)
            ends = max(ends, asked + lease)
            startRenewing()
        case .lost: loseAll()
        case .full, .hopeless: break
        }
        return (passage, incarnation)
    }

    /// Gives a place back in the next exchange.
    func leave(_ settlement: Settlement) {
        waiting.append(Outcome(settlement: settlement, waiter: nil))
        start()
    }

    /// - Parameter asked: When the caller asked. The lease may have begun then.
    func leased(_ token: LockToken, _ id: URLID, asked: ContinuousClock.Instant) -> HeldLock {
        stopAsking(.lock(id))
        let lock = HeldLock()
        guard token.incarnation == incarnation else {
            lock.lose()
            return lock
        }
        held[token] = (id, lock)
        ends = max(ends, asked + lease)
        startRenewing()
        return lock
    }

    func notLeased(_ id: URLID) { stopAsking(.lock(id)) }

    /// A call got no answer, and may have taken the lock: it is given back as soon as Redis answers.
    func mayHaveLeased(_ id: URLID) {
        stopAsking(.lock(id))
        mayHaveGot()
    }

    private func mayHaveGot() {
        hasToName = true
        ends = max(ends, .now + lease)
        startRenewing()
    }

    /// The lease of an incarnation has ended, and its locks with it.
    func ended(_ incarnation: Incarnation, _ id: URLID) {
        stopAsking(.lock(id))
        if incarnation == self.incarnation { loseAll() }
    }

    /// Settles a lock in the next exchange. An error means that nobody knows whether it was settled.
    func settle(_ settlement: Settlement) async -> Result<Verdict, StateError> {
        await withCheckedContinuation { waiter in
            waiting.append(Outcome(settlement: settlement, waiter: waiter))
            start()
        }
    }

    private func stopAsking(_ holding: Holding) {
        let count = (asking[holding] ?? 1) - 1
        asking[holding] = count > 0 ? count : nil
    }

    private func loseAll() {
        for (_, lock) in held.values { lock.lose() }
        held = [:]
        places = []
        beginAnew()
    }

    private func beginAnew() {
        incarnation = .random()
        number = 0
        unanswered = nil
        hasToName = false
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
            if let request = unanswered {
                guard await exchange(request, []) else { break }
                renews = false
                continue
            }
            let outcomes = Array(waiting.prefix(Self.mostOutcomes))
            waiting.removeFirst(outcomes.count)
            renews = false
            number += 1
            var request = ExchangeRequest(incarnation, number: number, lease: lease)
            request.settlements = outcomes.map(\.settlement)
            if let politeness { (request.host, request.hostPatience) = (politeness.usual, politeness.patience) }
            if hasToName { request.held = held.values.map { .lock($0.id) } + places.map { .place($0) } + asking.keys }
            guard await exchange(request, outcomes) else { break }
        }
        isUnderWay = false
    }

    /// - Returns: Whether there was an answer.
    private func exchange(_ request: ExchangeRequest, _ outcomes: [Outcome]) async -> Bool {
        let asked = ContinuousClock.now
        do throws(StateError) {
            guard let answer = try await cluster.exchange(request, in: partition) else {
                loseAll()
                // The same outcomes again: one is accepted while nobody else has taken its lock.
                waiting = outcomes + waiting
                return true
            }
            unanswered = nil
            ends = asked + lease
            for (outcome, verdict) in zip(outcomes, answer.verdicts) { end(outcome, .success(verdict)) }
            for settlement in request.settlements { ended(settlement) }
            hasToName = request.held == nil && answer.held > held.count + places.count + asking.count
            return true
        } catch {
            unanswered = error.isTransient ? request : nil
            let rest = waiting
            waiting = []
            for outcome in outcomes + rest {
                ended(outcome.settlement)
                end(outcome, .failure(error))
            }
            // The outcomes that were not sent leave their locks and places behind. Redis takes back those that the process does not name.
            if !rest.isEmpty { hasToName = true }
            if ends <= .now { loseAll() }
            startRenewing()
            return false
        }
    }

    /// A place has an id that no lock has.
    private func ended(_ settlement: Settlement) {
        held[settlement.token] = nil
        places.remove(settlement.id)
    }

    private func end(_ outcome: Outcome, _ answer: Result<Verdict, StateError>) { outcome.waiter?.resume(returning: answer) }

    /// Extends the lease three times within its length, until nothing is held.
    private func startRenewing() {
        guard !isRenewing else { return }
        isRenewing = true
        Task {
            while !holdsNothing || unanswered != nil || hasToName {
                try? await Task.sleep(for: hasToName ? min(OutageBreaker.shortestPause, lease / 3) : lease / 3)
                // Without an answer for a whole lease, Redis holds nothing for this process.
                if ends <= .now, holdsNothing { beginAnew() }
                if isUnderWay || holdsNothing && unanswered == nil && !hasToName { continue }
                isUnderWay = true
                await send(renews: true)
            }
            isRenewing = false
        }
    }
}
