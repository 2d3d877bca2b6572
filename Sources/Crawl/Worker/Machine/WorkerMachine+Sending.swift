internal import GannetQueue
internal import GannetRedis

/// When an exchange is sent, and what it asks for.
extension WorkerMachine {
    /// The jobs that can start now, beside those that requests under way may bring.
    var canStart: Int {
        guard !ending.isStopping, mayStart, unstoredBytes < Self.mostUnstoredBytes else { return 0 }
        let coming = lanes.reduce(0) { $0 + $1.expected.wanted }
        return max(0, min(places.count - transferring - stock.count, mostUnsettled - unsettled) - coming)
    }

    /// The jobs to keep in stock beside those that are there or may come: those that start before another exchange can bring more.
    private var lacksInStock: Int {
        guard !ending.isStopping, mayStart else { return 0 }
        let coming = lanes.reduce(0) { $0 + $1.expected.spare }
        return max(0, min(places.count / 8, rate.expected(with: Lane.waitForCompany)) - stock.count - coming)
    }

    /// The partitions that the worker works on: the first in its order that may have jobs, more of them the more places it has.
    private var active: [Int] {
        if let heldBack { return lanes[heldBack].mayFindWork ? [heldBack] : [] }
        let usable = order.lazy.filter { lanes[$0].mayFindWork && !lanes[$0].hasFailed && lanes[$0].awaySince == nil }
        return Array(usable.prefix(max(1, places.count / 16)))
    }

    /// The partition in which a URL waits for the worker to have nothing else. No other is asked for jobs until that URL has ended.
    private var heldBack: Int? { order.first { lanes[$0].isHeldBack && !lanes[$0].hasFailed } }

    private func mayAsk(_ index: Int) -> Bool { heldBack.map { $0 == index } ?? true }

    private func hasNothing(besides index: Int) -> Bool {
        order.allSatisfy { $0 == index || lanes[$0].session.holdings.isEmpty && lanes[$0].asked == (0, 0) }
    }

    mutating func sendWhatIsDue(at now: Instant) {
        let active = active
        var ready = active.filter { lanes[$0].isReady }
        for index in active where lanes[index].isReady {
            send(index, mostWanted: (canStart + ready.count - 1) / ready.count, spare: lacksInStock, at: now)
            ready.removeFirst()
        }
        // Jobs that end may make room for others in their partition.
        for index in lanes.indices where lanes[index].isReady && !active.contains(index) {
            send(index, mostWanted: active.isEmpty ? canStart : lanes[index].outgoingCount, spare: 0, at: now)
        }
        for index in lanes.indices {
            guard let time = lanes[index].repeatAt, time <= now, let request = lanes[index].sendAgain(at: now) else { continue }
            actions.append(.send(lanes[index].id, request))
        }
        dropUselessLanes()
    }

    /// The lease is extended while the worker holds anything in the partition, or where requests may ask for places with it.
    private func renewalDue(_ index: Int) -> Instant? {
        let holds =
            !lanes[index].session.holdings.isEmpty
            || index >= order.count && home(of: lanes[index].id.incarnation).map { !lanes[$0].session.holdings.isEmpty } ?? false
        return holds ? lanes[index].renewalDue(options.lease) : nil
    }

    /// A lane for places counts on until its incarnation claims no more jobs.
    private mutating func dropUselessLanes() {
        guard lanes.count > order.count else { return }
        let useful = lanes.dropFirst(order.count).filter {
            !$0.isIdle || !$0.session.holdings.isEmpty || home(of: $0.id.incarnation) != nil
        }
        if useful.count < lanes.count - order.count { lanes = lanes.prefix(order.count) + useful }
    }

    private mutating func send(_ index: Int, mostWanted: Int, spare: Int, at now: Instant) {
        let isPartition = index < order.count
        let wanted = isPartition && mayAsk(index) ? min(mostWanted, canStart, ExchangeRequest.mostJobs) : 0
        let isWanted = wanted > 0 && (lanes[index].mayFindWork || lanes[index].hasOutgoing)
        let isDue =
            isWanted && placesDue(index).map { $0 <= now } ?? true || lanes[index].session.holdings.haveToBeNamed
            || lanes[index].outgoingDue.map { $0 <= now } ?? false || renewalDue(index).map { $0 <= now } ?? false
        guard isDue else { return }
        if isPartition { lanes[index].replaceIfEnded(newIncarnation(), options.lease, at: now) }
        var request = ExchangeRequest(lanes[index].id.incarnation, number: 0, lease: options.lease)
        request.longestHold = options.longestHold
        request.wanted = wanted
        request.spare = isPartition && mayAsk(index) ? min(spare, ExchangeRequest.mostJobs - wanted) : 0
        request.hasNothingElsewhere = order.count == 1 || lanes[index].isHeldBack && hasNothing(besides: index)
        request.inbox = wanted > 0 ? inbox : nil
        request.host = options.hostRule
        request.hostPatience = options.retryPolicy.hostPatience
        request.giveUpAfter = options.retryPolicy.giveUpAfter
        request.since = lanes[index].workingSince
        request.random = random(in: 0...1)
        let sent = lanes[index].send(request, at: now)
        if wanted > 0 { lanes[index].visitAt = nil }
        actions.append(.send(lanes[index].id, sent))
    }

    /// When empty places are worth an exchange, if that is not now. Where transfers end fast, the places wait for settlements. These make room
    /// at their hosts and travel in the same call. The worker's time goes into work there, and not into waiting for origins.
    private func placesDue(_ index: Int) -> Instant? {
        guard lanes[index].outgoingCount < Lane.company, rate.brings(Lane.company, within: Lane.shortWait) else { return nil }
        return lanes[index].lastSent.map { $0 + Lane.shortWait }
    }

    mutating func startFromStock(at now: Instant) {
        while !stock.isEmpty, mayStart, transferring < places.count, unstoredBytes < Self.mostUnstoredBytes, unsettled < mostUnsettled {
            start(stock.removeFirst())
        }
    }

    /// Starts a job that the worker holds.
    private mutating func start(_ token: LockToken) {
        guard let held = jobs[token] else { return }
        held.phase = .transferring
        transferring += 1
        actions.append(.start(held.job))
    }

    /// When the machine wants to be woken, unless something happens before.
    func wakeUp(after now: Instant) -> Instant? {
        var times = [
            places.lookDue(used: transferring), ending.stageUntil, ending.bodiesUntil, ending.exchangesUntil,
            lookForOverdueAt, silenceDue, bodyDue, withoutNetworkUntil,
        ].compactMap { $0 }
        let hasRoom = canStart > 0
        // The lanes are read in their place: a copy of one costs more than the look.
        for index in lanes.indices {
            if let time = lanes[index].repeatAt { times.append(time) }
            guard lanes[index].isReady else { continue }
            if let time = lanes[index].outgoingDue { times.append(time) }
            if let time = renewalDue(index) { times.append(time) }
            let hasRoom = hasRoom && mayAsk(index)
            if hasRoom, lanes[index].mayFindWork || lanes[index].hasOutgoing, let time = placesDue(index) { times.append(time) }
            if hasRoom, !lanes[index].mayFindWork, let time = lanes[index].visitAt { times.append(time) }
        }
        return times.min()
    }
}

/// Estimates how many transfers will end until an exchange has brought their successors. A struct without a clock.
struct EndRate {
    private var ended = 0
    private var since: ContinuousClock.Instant?
    private var perSecond = 0.0
    private var roundTrip = 0.0

    /// A shorter time says little about the rate.
    private static let shortestWindow = Duration.milliseconds(10)
    /// The share of the newest value.
    private static let weight = 0.3

    mutating func noteEnd() { ended += 1 }

    mutating func noteAnswer(after time: Duration, at now: ContinuousClock.Instant) {
        roundTrip += (time / .seconds(1) - roundTrip) * (roundTrip == 0 ? 1 : Self.weight)
        let began = since ?? now
        since = began
        guard now - began >= Self.shortestWindow else { return }
        perSecond += (Double(ended) / ((now - began) / .seconds(1)) - perSecond) * (perSecond == 0 ? 1 : Self.weight)
        ended = 0
        since = now
    }

    /// Whether so many transfers end within this time.
    func brings(_ number: Int, within time: Duration) -> Bool { perSecond * (time / .seconds(1)) >= Double(number) }

    /// The transfers that end within one round trip and this wait before it.
    func expected(with wait: Duration) -> Int {
        Int((perSecond * (roundTrip + wait / .seconds(1))).rounded(.up))
    }
}

extension WorkerMachine {
    /// The order in which a worker visits partitions: rendezvous hashing, so that workers spread over all of them without a word.
    static func order(of worker: String, count: Int) -> [Int] {
        let name = Partition.hash(worker.utf8)
        let weights = (0..<count).map { partition in
            var hash = (name ^ UInt64(partition)) &* 0x9e37_79b9_7f4a_7c15
            // FNV leaves the high bits of short texts alike.
            hash = (hash ^ (hash >> 31)) &* 0xbf58_476d_1ce4_e5b9
            return hash ^ (hash >> 29)
        }
        return (0..<count).sorted { (weights[$0], $0) > (weights[$1], $1) }
    }
}
