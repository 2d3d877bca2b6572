internal import GannetBase
internal import GannetQueue

/// Decides what a worker does: what it tells Redis and when, which jobs it starts, and when it ends. It has no clock and no task inside.
///
/// ```
///            ┌─────────────────────────── exchange ◀────────────────────────────┐
///            ▼                                                                  │
///   job ─▶ stock ─▶ transfer ──(its place is free)──▶ conclusion ─▶ settlement ─┘ ─▶ verdict ─▶ report
///            └── nothing to fetch ───────────────────────▲
/// ```
///
/// Each partition has a ``Lane`` of exchanges. Jobs for empty places and settlements travel in the same exchange.
struct WorkerMachine {
    typealias Instant = ContinuousClock.Instant

    /// The large and rare ones are indirect: each job makes several of the others.
    enum Input: Sendable {
        /// An exchange was answered; `nil` says that the lease of its incarnation has ended.
        indirect case answered(Lane.ID, ExchangeAnswer?, after: Duration)
        indirect case unanswered(Lane.ID, StateError)
        /// The connection to Redis could not be restored.
        indirect case cannotConnect(RedisOutage)
        /// A job's place in the worker is free. Its body has this many bytes in memory, or there is none to store.
        case transferEnded(LockToken, bytes: Int?)
        case concluded(LockToken, Conclusion)
        /// The output cannot go on.
        case broken(LockToken, Conclusion, any Error)
        /// The transfer goes on for another job of the same URL.
        case adopted(LockToken)
        /// A request asks for a place at a host of this partition, where a redirect has led it.
        case asksForPlace(LockToken, URLID, partition: Int)
        /// Redis has answered it; `nil` where the call failed.
        indirect case moved(LockToken, URLID, partition: Int, Passage?)
        /// The host of a job under way has answered for its robots.txt.
        case hostAnswered(LockToken)
        /// Whether the store takes bodies.
        case room(Bool)
        /// Jobs may have been announced.
        case heard
        case feedEnded
        case stopRequested
        /// Somebody has asked the worker to drain, through Redis.
        case drainAsked
        /// The worker's own task was cancelled.
        case cancelled
        /// The time has come that the machine asked to be woken at.
        case woken(Instant)
    }

    enum Action: Sendable {
        case send(Lane.ID, ExchangeRequest)
        case start(Job)
        /// End the transfer of a job, whose conclusion follows.
        case cancel(LockToken, Cancellation)
        case report(WorkerReport)
        /// Report that Redis has not answered for some time.
        case reportSilence
        /// The worker ends without these, and the end follows.
        case leave(LeftBehind)
        /// Redis has consented to a settlement after this time.
        case settled(after: Duration)
        case finish(Result<WorkerEnd, any Error>)
    }

    enum Cancellation: Sendable {
        case handedBack
        /// The transfer has lasted longer than any may.
        case overdue
    }

    enum Phase {
        /// Waits for a place.
        case inStock
        case transferring
        case concluding(bytes: Int)
        /// Its settlement waits for an exchange, or is under way in one.
        case settling
    }

    /// A class: a change of its phase then changes no table, which would copy the job to and fro.
    final class JobInHand {
        let job: Job
        /// When the exchange that brought it was sent. The lock is not older.
        let claimed: Instant
        var phase: Phase
        var isCancelled = false
        /// Its body has waited so long to be stored that its host's place was given back.
        var isHeldUp = false
        /// It is handed back without an attempt.
        var isUnbegun = false

        init(job: Job, claimed: Instant, phase: Phase) {
            self.job = job
            self.claimed = claimed
            self.phase = phase
        }
    }

    let options: WorkerOptions
    /// The name under which the worker hears of jobs, if it listens.
    let inbox: String?
    let order: [Int]
    /// The first lanes are those of the partitions. Each of the others keeps the places that requests of one partition's jobs have at hosts of
    /// another partition.
    var lanes: [Lane]
    var jobs: [LockToken: JobInHand] = [:]
    var stock: [LockToken] = []
    /// The partition of each request whose place is not at a host of its URL's partition, because a redirect has led it elsewhere.
    var elsewhere: [LockToken: Int] = [:]
    var transferring = 0
    private(set) var places: Places
    /// The last reported reason for the number of places.
    private var toldBound = PlacesBound.given
    /// The bytes of bodies that are not stored yet.
    var unstoredBytes = 0
    /// Jobs whose bodies are on their way to the store, and since when. A job that has arrived there stays until it is the first.
    var storing = Fifo<(held: JobInHand, since: Instant)>()
    /// Jobs whose bodies have waited long to be stored: their part of the store is away, full or slow.
    var heldUp = 0
    var hasToldOfStandstill = false
    var rate = EndRate()
    var lookForOverdueAt: Instant?

    /// How many jobs the output lets wait for it, if that is fewer than usual.
    let mostWaiting: Int?

    /// The store keeps no more bodies until somebody has exported some.
    private(set) var isWithoutRoom = false

    /// A request has failed for want of a network, such as the proxy's. Until then the worker takes no more jobs: each would fail alike, and be
    /// put off by itself.
    var withoutNetworkUntil: Instant?

    /// The queue is still being filled, so an empty queue does not end the worker.
    var isFed: Bool
    var ending = Ending()
    /// No connection to Redis could be restored, and no partition has answered since.
    var isWithoutRedis = false
    var hasToldOfMissing = false

    var actions: [Action] = []
    private var generator: any RandomNumberGenerator

    /// Bodies in memory that wait to be stored.
    static let mostUnstoredBytes = 64 << 20
    /// Small bodies may wait for a part of Redis that is away, while the worker goes on with the other parts.
    private static let leastUnsettled = 4096

    /// - Parameter worker: The worker's name, which decides the order of the partitions.
    init(
        _ options: WorkerOptions, worker: String, partitions: Int = 1, inbox: String? = nil, isFed: Bool = false, mostWaiting: Int? = nil,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        var random = random
        self.options = options
        places = Places(most: options.concurrency, adapts: options.adaptsConcurrency)
        self.inbox = inbox
        self.isFed = isFed
        self.mostWaiting = mostWaiting
        order = Self.order(of: worker, count: partitions)
        // Partitions count their tokens by themselves. Tokens of different incarnations are different all the same.
        lanes = (0..<partitions).map { Lane(Lane.ID(partition: $0, incarnation: Incarnation(random.next()))) }
        generator = random
    }

    /// The partitions in which the worker holds jobs or asks for some, in order.
    var partitionsAtWork: [Int] {
        lanes.indices.prefix(order.count).filter { !lanes[$0].session.holdings.isEmpty || lanes[$0].underWay != nil }
    }

    /// Whether bodies can be fetched and kept.
    var mayStart: Bool { !isWithoutRoom && withoutNetworkUntil == nil }
    /// The jobs that the worker holds and has begun.
    var begun: Int { jobs.count - stock.count }
    var isStopping: Bool { ending.isStopping }
    /// Jobs whose transfers have ended.
    var unsettled: Int { begun - transferring }
    var mostUnsettled: Int { mostWaiting ?? max(8 * places.count, Self.leastUnsettled) }

    /// Takes what has happened since the last call, and decides what to do.
    /// - Parameter sight: Is asked when the number of places is looked at.
    mutating func take(_ inputs: [Input], at now: Instant, seeing sight: () -> Places.Sight = { .init() }) -> [Action] {
        for input in inputs where !ending.isDone { take(input, at: now) }
        places.look(used: transferring, at: now, seeing: sight)
        tellBound()
        if !ending.isDone { decide(at: now) }
        defer { actions = [] }
        return actions
    }

    private mutating func take(_ input: Input, at now: Instant) {
        switch input {
        case .answered(let id, let exchange?, let time): answered(id, exchange, after: time, at: now)
        case .answered(let id, nil, _): leaseEnded(id, at: now)
        case .unanswered(let id, let error): unanswered(id, error, at: now)
        case .transferEnded(let token, let bytes): transferEnded(token, bytes: bytes, at: now)
        case .concluded(let token, let conclusion): concluded(token, conclusion, at: now)
        case .broken(let token, let conclusion, let error):
            concluded(token, conclusion, at: now)
            fail(error, at: now)
        case .adopted(let token): adopted(token, at: now)
        case .asksForPlace(let token, let id, let partition):
            lanes[laneOfPlace(partition, token.incarnation, at: now)].session.holdings.mayHold(.place(id))
        case .moved(let token, let id, let partition, let passage): moved(token, id, to: partition, passage, at: now)
        case .hostAnswered(let token): hostAnswered(token, at: now)
        case .cannotConnect(let outage): noteAway(outage)
        case .room(let isThere):
            isWithoutRoom = !isThere
            if isThere { mayFindWork() }
        case .heard: mayFindWork()
        case .feedEnded:
            isFed = false
            mayFindWork()
        case .stopRequested: stopRequested(at: now)
        case .drainAsked: drainAsked(at: now)
        case .cancelled: cancelled(at: now)
        case .woken: break
        }
    }

    private mutating func tellBound() {
        guard places.bound != toldBound, places.bound != .jobs, places.bound != .growing else { return }
        toldBound = places.bound
        actions.append(.report(.places(places.count, places.bound)))
    }

    private mutating func decide(at now: Instant) {
        keepTime(at: now)
        guard !ending.isDone else { return }
        startFromStock(at: now)
        sendWhatIsDue(at: now)
        finishIfDone()
    }

    mutating func random(in range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &generator) }
    mutating func newIncarnation() -> Incarnation { Incarnation(generator.next()) }

    private mutating func mayFindWork() {
        for index in 0..<order.count {
            lanes[index].mayFindWork = true
            lanes[index].vainVisits = 0
            lanes[index].heardMeanwhile = lanes[index].underWay != nil
        }
    }
}
