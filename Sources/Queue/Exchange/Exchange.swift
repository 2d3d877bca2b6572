package import GannetRedisClient

/// The arguments of an exchange between a process and a partition.
package struct ExchangeRequest: Sendable {
    package var incarnation: Incarnation

    /// Counts the exchanges of the incarnation with the partition, from 1 on. A repeated exchange has the same number and the same content.
    package var number: Int

    /// For how long the incarnation counts as alive after this exchange.
    package var lease: Duration

    /// For how long a request may hold its URL, whatever its holder's lease. A caller that meets the lock later takes the URL over.
    package var longestHold = Duration.seconds(3600)

    package var settlements: [Settlement] = []

    /// Jobs for free places.
    package var wanted = 0

    /// Further jobs, to start soon. They come only from hosts that have two free places.
    package var spare = 0

    /// The name of the worker, which hears of new jobs when there are none now. It must listen on its inboxes before it asks.
    package var inbox: String?

    /// The politeness towards hosts for which no rule is stored.
    package var host = HostRule(limit: 8)

    /// A host that does not answer is given up after this.
    package var hostPatience = HostPatience.endless

    /// For how long a host may ask for rests, and a URL be put off, before they are given up; zero for ever.
    package var giveUpAfter = Duration.zero

    /// When the process began to work there, in queue time; `nil` in its first exchange. Its patience with URLs counts from there.
    package var since: Int? = 0

    /// How many given-up jobs are kept.
    package var mostDead = Self.usualDead

    /// From 0 to 1, to spread the rests of hosts.
    package var random = Double.random(in: 0...1)

    /// Everything that the process holds there, sent when the last answer's count differs. Redis takes everything else back, uncharged.
    package var held: [Holding]?

    /// The process has nothing in other partitions, and asks for nothing there. Only such a process gets a URL that two workers died with.
    package var hasNothingElsewhere = true

    package init(_ incarnation: Incarnation, number: Int, lease: Duration) {
        self.incarnation = incarnation
        self.number = number
        self.lease = lease
    }

    package static let usualDead = 100_000
    /// More jobs or outcomes in one call would make other callers of Redis wait.
    package static let mostJobs = 256
    package static let longestLease = Duration.seconds(24 * 3600)

    package static let poisonClass = "poison"
    package static let unreadableClass = "unreadable"

    static func milliseconds(ofLease lease: Duration) throws(StateError) -> Int {
        guard lease > .zero, lease <= longestLease else { throw .invalid("A lease lasts up to a day.") }
        return lease.wholeMilliseconds
    }
}

/// Something that a process holds in a partition.
package enum Holding: Sendable, Hashable {
    /// A URL's lock.
    case lock(URLID)
    /// A job whose outcome is known.
    case delivery(LockToken)
    /// A place at a host to which a redirect has led a URL's request.
    case place(URLID)

    var field: [UInt8] {
        switch self {
        case .lock(let id): id.bytes
        case .delivery(let token): [UInt8(ascii: "d")] + token.bytes
        case .place(let id): [UInt8(ascii: "p")] + id.bytes
        }
    }
}

/// The answer to an exchange.
package struct ExchangeAnswer: Sendable {
    package enum Left: Int, Sendable {
        case jobs = 0
        /// All accepted jobs have ended.
        case nothing
        /// The jobs that are left are counted, and nothing leads to them: Redis has lost them, or another program has damaged them.
        case missing
    }

    /// Queue time, ms.
    package let now: Int

    /// One for each settlement.
    package let verdicts: [Verdict]
    package let jobs: [Job]

    /// How many locks, deliveries and places the incarnation holds in this partition.
    package let held: Int
    package let left: Left

    /// Another exchange may bring more jobs at once, because this one stopped at its bound.
    package let isMore: Bool

    /// When the partition wants the next visit, unless the worker hears of something earlier. A job falls due then, or a lease may have ended.
    package let next: Duration?
    package let isPaused: Bool

    /// The process gets no more jobs until it has none, because it has a URL that two workers died with, or is to have one.
    package let isHeldBack: Bool

    /// Jobs whose URL is not valid UTF-8. They are held like the others, and have to be given up.
    package let unreadable: [Settlement]
}

extension ExchangeAnswer {
    private static let header = 9

    /// `nil` where the incarnation's lease has ended.
    package init?(_ reply: RedisReply, partition: Int) throws {
        let fields = try reply.asArray()
        guard let status = try fields.first?.asString() else { throw RedisError.form(of: "exchange") }
        if status == "ended" { return nil }
        guard fields.count >= Self.header, (fields.count - Self.header).isMultiple(of: 2),
            let left = Left(rawValue: try fields[4].asInteger())
        else { throw RedisError.form(of: "exchange") }
        now = try fields[1].asNumber()
        verdicts = try fields[2].asBytes().map {
            guard let verdict = Verdict(rawValue: $0) else { throw RedisError.form(of: "exchange") }
            return verdict
        }
        held = try fields[3].asInteger()
        self.left = left
        isMore = try fields[5].asInteger() == 1
        let next = try fields[6].asNumber()
        self.next = next < 0 ? nil : .milliseconds(next)
        let state = try fields[7].asInteger()
        (isPaused, isHeldBack) = (state == 1, state == 2)
        let batches = try LeasedBatch.byNumber(try fields[8].asArray())
        var jobs: [Job] = []
        var unreadable: [Settlement] = []
        for index in stride(from: Self.header, to: fields.count, by: 2) {
            let job = try Job.read(
                try fields[index].asBytes(), outcome: try fields[index + 1].asBytes(), partition: partition, batches: batches, now: now,
                unreadable: &unreadable)
            if let job { jobs.append(job) }
        }
        self.jobs = jobs
        self.unreadable = unreadable
    }
}

extension FetchQueue {
    /// Settles outcomes, extends the lease and brings jobs, in one attempt. A request that is repeated after a lost reply does nothing twice.
    /// - Returns: `nil` where the lease of the incarnation has ended. Then nothing was done: a new incarnation has to ask.
    package func exchange(_ request: ExchangeRequest, in partition: Partition) async throws(StateError) -> ExchangeAnswer? {
        try await cluster.exchange(request, queue: checkedName(), in: partition)
    }
}

extension ClusterState {
    /// Without a queue it settles outcomes, and extends the lease.
    package func exchange(
        _ request: ExchangeRequest, queue: String = "", in partition: Partition
    ) async throws(StateError) -> ExchangeAnswer? {
        guard request.settlements.count <= ExchangeRequest.mostJobs, (0...ExchangeRequest.mostJobs).contains(request.wanted + request.spare)
        else {
            throw .invalid("An exchange settles and brings at most \(ExchangeRequest.mostJobs) jobs.")
        }
        let lease = try ExchangeRequest.milliseconds(ofLease: request.lease)
        try request.host.check()
        var arguments: [RedisArgument] = [
            .bytes(request.incarnation.bytes), .integer(request.number), .integer(lease), .integer(request.longestHold.wholeMilliseconds),
            .integer(request.wanted), .integer(request.spare), .string(request.inbox.map { inbox(of: $0, in: partition) } ?? ""),
            .integer(request.host.limit),
            .integer(request.host.interval.wholeMilliseconds), .string("\(min(1, max(0, request.random)))"),
            .integer(request.hostPatience.time.wholeMilliseconds), .integer(request.mostDead), .integer(request.settlements.count),
            .integer(request.held == nil ? 0 : 1), .integer(request.hasNothingElsewhere ? 1 : 0),
            .integer(request.hostPatience.probes), .integer(request.host.first), .integer(request.giveUpAfter.wholeMilliseconds),
            .string(request.since.map(String.init) ?? ""),
        ]
        for settlement in request.settlements { arguments.append(.bytes(settlement.bytes)) }
        for holding in request.held ?? [] { arguments.append(.bytes(holding.field)) }
        return try await StateError.mapping {
            try await ExchangeAnswer(run(scripts.exchange, in: partition, queue: queue, arguments), partition: partition.index)
        }
    }
}
