internal import GannetBase
internal import GannetQueue

/// A worker's exchanges with one partition: at most one is under way, and outcomes gather meanwhile. A struct without a clock.
///
/// A request that got no answer is repeated with the same number and content until it is answered. Later outcomes wait until then.
struct Lane {
    typealias Instant = ContinuousClock.Instant

    struct ID: Hashable, Sendable {
        let partition: Int
        var incarnation: Incarnation
    }

    /// The end of a job, or of a place at a host of this partition.
    struct Outcome: Sendable {
        let settlement: Settlement
        /// The news that Redis' consent makes true.
        let report: WorkerReport?
        let since: Instant

        init(_ settlement: Settlement, _ report: WorkerReport? = nil, since: Instant) {
            self.settlement = settlement
            self.report = report
            self.since = since
        }
    }

    struct UnderWay: Sendable {
        var request: ExchangeRequest
        let outcomes: [Outcome]
        /// The lease counts from here.
        let began: Instant
    }

    static let mostOutcomes = ExchangeRequest.mostJobs
    static let mostOutcomeBytes = 1 << 20
    /// Fewer outcomes wait for company, as long as no place is empty: where origins are slow, the worker's places are what counts.
    static let company = 8
    static let waitForCompany = Duration.milliseconds(20)
    /// Where so many transfers end within this time, empty places wait for as many outcomes.
    static let shortWait = Duration.milliseconds(2)

    private(set) var id: ID
    private var number = 0
    private(set) var underWay: UnderWay?
    private var outcomes = Fifo<Outcome>()

    /// The request under way failed, and is repeated at this time.
    var repeatAt: Instant?
    var failures = 0
    /// Since when the partition does not answer. Other partitions go on meanwhile, with all places of the worker.
    var awaySince: Instant?
    private var lastAnswer: Instant?
    /// Queue time of the first exchange there.
    private(set) var workingSince: Int?
    /// An error that will last: this lane sends nothing more.
    var hasFailed = false
    private(set) var lastSent: Instant?
    /// Since when the request under way waits for its answer; `nil` without one, and while it waits to be repeated.
    var waitsSince: Instant? { underWay == nil || repeatAt != nil ? nil : lastSent }

    private(set) var holdings = Holdings()

    /// An exchange may find jobs: no answer has shown the contrary since jobs were last announced.
    var mayFindWork = true
    /// Jobs were announced during an exchange. They may have come too late for it.
    var heardMeanwhile = false
    /// When the partition wants its next visit.
    var visitAt: Instant?
    /// The partition gives the worker no more jobs until the worker has none.
    var isHeldBack = false
    /// The rest of the queue in this partition, by the last answer; `nil` before the first answer.
    var left: Exchange.Left?

    init(_ id: ID, leaseBegan: Instant? = nil) {
        self.id = id
        lastSent = leaseBegan
    }

    var hasOutcomes: Bool { !outcomes.isEmpty }
    var outcomeCount: Int { outcomes.count }
    var isIdle: Bool { underWay == nil && outcomes.isEmpty }
    var isReady: Bool { underWay == nil && !hasFailed }
    /// Jobs that the request under way may bring.
    var asked: (wanted: Int, spare: Int) { underWay.map { ($0.request.wanted, $0.request.spare) } ?? (0, 0) }
    /// The same, for places that are kept for these jobs.
    var expected: (wanted: Int, spare: Int) { awaySince == nil ? asked : (0, 0) }

    /// When the outcomes go even without company; `nil` without outcomes.
    var outcomesDue: Instant? {
        guard let first = outcomes.first else { return nil }
        return outcomes.count >= Self.company ? first.since : first.since + Self.waitForCompany
    }

    /// The lease is extended three times within its length.
    func renewalDue(_ lease: Duration) -> Instant? { lastSent.map { $0 + lease / 3 } }

    mutating func append(_ outcome: Outcome) { outcomes.append(outcome) }

    /// The next request. It takes the outcomes that have gathered, within the bounds of a call.
    mutating func send(_ basis: ExchangeRequest, at now: Instant) -> ExchangeRequest {
        number += 1
        var request = basis
        request.incarnation = id.incarnation
        request.number = number
        var sent: [Outcome] = []
        var bytes = 0
        while let next = outcomes.first, sent.count < Self.mostOutcomes {
            bytes += next.settlement.approximateBytes
            // One outcome is below the bound in any case.
            if bytes > Self.mostOutcomeBytes, !sent.isEmpty { break }
            sent.append(next)
            _ = outcomes.popFirst()
        }
        request.settlements = sent.map(\.settlement)
        if holdings.haveToBeNamed { request.held = holdings.all }
        underWay = UnderWay(request: request, outcomes: sent, began: now)
        lastSent = now
        return request
    }

    /// The request under way once more, unchanged.
    mutating func sendAgain(at now: Instant) -> ExchangeRequest? {
        repeatAt = nil
        lastSent = now
        return underWay?.request
    }

    func hasAnswered(since time: Instant) -> Bool { lastAnswer.map { $0 > time } ?? false }

    /// The request under way is answered.
    /// - Parameter time: Queue time.
    mutating func answered(_ time: Int, at now: Instant) -> UnderWay? {
        defer { underWay = nil }
        lastAnswer = now
        workingSince = workingSince ?? time
        failures = 0
        return underWay
    }

    /// The lease has ended. The same outcomes go again as the first exchange of a new incarnation, which holds nothing.
    mutating func beginAnew(_ incarnation: Incarnation, at now: Instant) -> ExchangeRequest? {
        id.incarnation = incarnation
        holdings = Holdings()
        number = 1
        underWay?.request.incarnation = incarnation
        underWay?.request.number = number
        underWay?.request.held = nil
        return sendAgain(at: now)
    }

    /// A lane that holds nothing lets its lease end. It goes on as a new incarnation.
    mutating func replaceIfEnded(_ incarnation: Incarnation, _ lease: Duration, at now: Instant) {
        guard let lastSent, holdings.isEmpty, underWay == nil, now - lastSent >= lease else { return }
        id.incarnation = incarnation
        number = 0
    }

    /// Takes the outcomes out of a lane that ends, those of the request under way included.
    mutating func takeOutcomes() -> [Outcome] {
        var all = underWay?.outcomes ?? []
        underWay = nil
        while let next = outcomes.popFirst() { all.append(next) }
        return all
    }

    mutating func hold(_ holding: Holding, _ token: LockToken) { holdings.add(holding, token) }
    mutating func release(_ holding: Holding, _ token: LockToken) { holdings.remove(holding, token) }
    mutating func mayHold(_ holding: Holding) { holdings.mayHold(holding) }
    mutating func doesNotHold(_ holding: Holding) { holdings.doesNotHold(holding) }
    /// - Returns: Whether the next exchange has to name all that the worker holds.
    mutating func compare(_ count: Int, hasNamed: Bool) -> Bool { holdings.compare(count, hasNamed: hasNamed) }
}

extension Settlement {
    /// The bytes in a request, long fields not yet cut.
    fileprivate var approximateBytes: Int {
        let header = 100
        switch outcome {
        case .fetched(let content, _), .revalidated(let content, _), .failed(let content, _), .retry(let content, _),
            .throttled(let content, _), .putOff(let content, _):
            return header + content.url.utf8.count + (content.facts?.count ?? 0)
                + content.fields.values.reduce(0) { $0 + 3 + $1.utf8.count }
        case .handedBack, .delivered, .bodyMissing, .leftPlace, .leftPlaceToRest, .hostAnswered: return header
        }
    }
}
