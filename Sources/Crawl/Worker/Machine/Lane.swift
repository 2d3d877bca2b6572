internal import GannetBase
internal import GannetQueue

/// A worker's ``Session`` with one partition, and what gathers for its next exchange. A struct without a clock.
struct Lane {
    typealias Instant = ContinuousClock.Instant

    struct ID: Hashable, Sendable {
        let partition: Int
        var incarnation: Incarnation
    }

    /// The end of a job, or of a place at a host of this partition.
    struct Outgoing: Sendable {
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

    static let mostOutgoing = ExchangeRequest.mostJobs
    static let mostOutgoingBytes = 1 << 20
    /// Fewer settlements wait for company, as long as no place is empty: where origins are slow, the worker's places are what counts.
    static let company = 8
    static let waitForCompany = Duration.milliseconds(20)
    /// Where so many transfers end within this time, empty places wait for as many settlements.
    static let shortWait = Duration.milliseconds(2)

    let partition: Int
    var session: Session
    private var outgoing = Fifo<Outgoing>()
    /// The settlements of the exchange under way, and when it was sent first.
    private var sent: (outgoing: [Outgoing], began: Instant)?

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
    var waitsSince: Instant? { !session.isUnderWay || repeatAt != nil ? nil : lastSent }

    /// An exchange may find jobs: no answer has shown the contrary since jobs were last announced.
    var mayFindWork = true
    /// Jobs were announced during an exchange. They may have come too late for it.
    var heardMeanwhile = false
    /// When the partition wants its next visit.
    var visitAt: Instant?
    /// Visits in a row that found nothing, though their time had come: other workers came first.
    var vainVisits = 0
    /// The partition gives the worker no more jobs until the worker has none.
    var isHeldBack = false
    /// The rest of the queue in this partition, by the last answer; `nil` before the first answer.
    var left: ExchangeAnswer.Left?

    init(_ id: ID, leaseBegan: Instant? = nil) {
        partition = id.partition
        session = Session(id.incarnation)
        lastSent = leaseBegan
    }

    var id: ID { ID(partition: partition, incarnation: session.incarnation) }
    var underWay: ExchangeRequest? { session.underWay }

    var hasOutgoing: Bool { !outgoing.isEmpty }
    var outgoingCount: Int { outgoing.count }
    var isIdle: Bool { !session.isUnderWay && outgoing.isEmpty }
    var isReady: Bool { !session.isUnderWay && !hasFailed }
    /// Jobs that the request under way may bring.
    var asked: (wanted: Int, spare: Int) { underWay.map { ($0.wanted, $0.spare) } ?? (0, 0) }
    /// The same, for places that are kept for these jobs.
    var expected: (wanted: Int, spare: Int) { awaySince == nil ? asked : (0, 0) }

    /// When the settlements go even without company; `nil` without settlements.
    var outgoingDue: Instant? {
        guard let first = outgoing.first else { return nil }
        return outgoing.count >= Self.company ? first.since : first.since + Self.waitForCompany
    }

    /// The lease is extended three times within its length.
    func renewalDue(_ lease: Duration) -> Instant? { lastSent.map { $0 + lease / 3 } }

    mutating func append(_ one: Outgoing) { outgoing.append(one) }

    /// The next request. It takes the settlements that have gathered, within the bounds of a call.
    mutating func send(_ basis: ExchangeRequest, at now: Instant) -> ExchangeRequest {
        var taken: [Outgoing] = []
        var bytes = 0
        while let next = outgoing.first, taken.count < Self.mostOutgoing {
            bytes += next.settlement.approximateBytes
            // One settlement is below the bound in any case.
            if bytes > Self.mostOutgoingBytes, !taken.isEmpty { break }
            taken.append(next)
            _ = outgoing.popFirst()
        }
        sent = (taken, now)
        lastSent = now
        return session.begin(basis, settling: taken.map(\.settlement))
    }

    /// The request under way once more, unchanged.
    mutating func sendAgain(at now: Instant) -> ExchangeRequest? {
        repeatAt = nil
        lastSent = now
        return underWay
    }

    func hasAnswered(since time: Instant) -> Bool { lastAnswer.map { $0 > time } ?? false }

    /// The request under way is answered.
    /// - Parameter time: Queue time.
    /// - Returns: The lease counts from `began`.
    mutating func answered(_ time: Int, at now: Instant) -> (request: ExchangeRequest, outgoing: [Outgoing], began: Instant)? {
        lastAnswer = now
        workingSince = workingSince ?? time
        failures = 0
        guard let request = session.end(), let sent = sent.take() else { return nil }
        return (request, sent.outgoing, sent.began)
    }

    /// The lease has ended. The same settlements go again as the first exchange of a new incarnation, which holds nothing.
    mutating func beginAnew(_ incarnation: Incarnation, at now: Instant) -> ExchangeRequest? {
        session.beginAnew(incarnation)
        return sendAgain(at: now)
    }

    /// A lane that holds nothing lets its lease end. It goes on as a new incarnation.
    mutating func replaceIfEnded(_ incarnation: Incarnation, _ lease: Duration, at now: Instant) {
        guard let lastSent, session.holdings.isEmpty, !session.isUnderWay, now - lastSent >= lease else { return }
        session.beginAnew(incarnation)
    }

    /// Takes the settlements out of a lane that ends, those of the request under way included.
    mutating func takeOutgoing() -> [Outgoing] {
        session.end()
        var all = sent.take()?.outgoing ?? []
        while let next = outgoing.popFirst() { all.append(next) }
        return all
    }
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
