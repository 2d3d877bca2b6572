internal import RedisClient

/// Claiming jobs and ending them.
extension QueueState {
    /// Leases up to `limit` jobs. The same request again is the same claim again: for when the answer was lost.
    package func claim(_ request: ClaimRequest) async throws(StateError) -> ClaimAnswer {
        guard (0...ClaimRequest.mostJobs).contains(request.limit) else {
            throw .invalid("A claim asks for at most \(ClaimRequest.mostJobs) jobs.")
        }
        let lease = try ClaimRequest.milliseconds(ofLease: request.lease)
        try request.host.check()
        let reply = try await run(
            ClusterScripts.claim,
            [
                .integer(request.limit), .integer(lease), .bytes(request.nonce.bytes), .string(request.worker),
                .string(request.inbox ?? ""), .integer(request.host.limit), .integer(request.host.interval.wholeMilliseconds),
                .integer(request.mostDead), .bytes(ClaimRequest.poison), .integer(ClaimRequest.poisonKept.wholeMilliseconds),
                .bytes(ClaimRequest.hostGivenUp),
            ])
        return try await StateError.wrapping { () throws(RedisError) in try ClaimAnswer(reply) }
    }

    /// Ends jobs with their outcomes.
    /// - Parameters:
    ///   - claimsAgain: The caller claims again at once; where not, others are told of the places that are free now.
    ///   - hostPatience: A host that takes no connection for longer is given up, and with it what waits for it; zero for never.
    ///   - random: From 0 to 1, to spread cool-downs.
    package func settle(
        _ settlements: [Settlement], claimsAgain: Bool = true, mostDead: Int = ClaimRequest.usualDead, hostPatience: Duration = .zero,
        random: Double
    ) async throws(StateError) -> [SettleAnswer] {
        try await cluster.settle(
            settlements, count: cluster.keys.count(of: name), claimsAgain: claimsAgain, mostDead: mostDead, hostPatience: hostPatience,
            random: random)
    }

    /// Takes all of the queue's leases back, whoever holds them, uncharged. Returns how many.
    @discardableResult
    package func reclaimAll() async throws(StateError) -> Int {
        var cursor = 0
        var taken = 0
        repeat {
            let reply = try await run(ClusterScripts.reclaim, [.integer(cursor)])
            try await StateError.wrapping { () throws(RedisError) in
                let fields = try reply.asArray()
                guard fields.count == 2 else { throw RedisError(.unexpectedReply, "reclaim in another form than expected") }
                cursor = try fields[0].asInteger()
                taken += try fields[1].asInteger()
            }
        } while cursor != 0
        return taken
    }
}

/// What a worker asks for.
package struct ClaimRequest: Sendable {
    package var limit: Int
    package var lease: Duration

    /// Another for each claim, the same for its repetition.
    package var nonce: Nonce

    /// The worker's name: the last claim of each is remembered.
    package var worker: String

    /// The channel on which it hears of new jobs when there are none now; it must listen before it asks.
    package var inbox: String?

    /// How politely hosts are treated for which no rule is stored.
    package var host = HostRule(limit: 8)

    /// Given-up jobs that are kept.
    package var mostDead = Self.usualDead

    package static let usualDead = 100_000
    package static let mostJobs = 1000
    package static let longestLease = Duration.seconds(24 * 3600)

    static func milliseconds(ofLease lease: Duration) throws(StateError) -> Int {
        guard lease > .zero, lease <= longestLease else { throw .invalid("A lease lasts up to a day.") }
        return lease.wholeMilliseconds
    }

    package init(_ limit: Int, lease: Duration, nonce: Nonce, worker: String) {
        self.limit = limit
        self.lease = lease
        self.nonce = nonce
        self.worker = worker
    }

    package static let poisonClass = "poison"

    /// What is said of a URL that three workers died with.
    static let poison: [UInt8] = {
        var content = PageContent(url: "")
        content.fields = [.errorClass: poisonClass, .errorMessage: "Three workers died while they had it."]
        return content.bytesWithoutURL
    }()

    /// What is said of a URL whose host took no connection for too long.
    static let hostGivenUp: [UInt8] = {
        var content = PageContent(url: "")
        content.fields = [.errorClass: "connect", .errorMessage: "Its host has taken no connection for so long that it was given up."]
        return content.bytesWithoutURL
    }()
    static let poisonKept = Duration.seconds(24 * 3600)
}

/// What a claim brought.
package struct ClaimAnswer: Sendable {
    package enum Left: Int, Sendable {
        case jobs = 0
        /// All that was accepted has ended.
        case nothing
        /// Jobs that only a newer version can read.
        case onlyForeign
    }

    package let jobs: [LeasedJob]

    /// Jobs whose URL is no text. The script cannot tell; nobody can fetch them.
    package let unreadable: [(token: FlightToken, id: URLID)]

    /// Queue time, ms.
    package let now: Int
    package let left: Left

    /// The claim stopped at its bound: there may be something for another at once.
    package let isMore: Bool

    /// When something falls due, or somebody has to look again for the sake of leases that may end.
    package let next: Duration?

    /// Jobs of this queue that the claim itself ended as failed: three workers had died with them, or their URL had failed before.
    package let failed: Int
    package let isPaused: Bool
}

extension ClaimAnswer {
    private static let header = 7
    private static let fieldsOfJob = 4

    init(_ reply: RedisReply) throws(RedisError) {
        let fields = try reply.asArray()
        guard fields.count >= Self.header, (fields.count - Self.header).isMultiple(of: Self.fieldsOfJob),
            let left = Left(rawValue: try fields[1].asInteger())
        else { throw RedisError(.unexpectedReply, "claim in another form than expected") }
        now = try fields[0].asInteger()
        self.left = left
        isMore = try fields[2].asInteger() == 1
        let next = try fields[3].asInteger()
        self.next = next < 0 ? nil : .milliseconds(next)
        failed = try fields[4].asInteger()
        isPaused = try fields[5].asInteger() == 1
        let batches = try LeasedBatch.told(try fields[6].asArray())
        var jobs: [LeasedJob] = []
        var unreadable: [(token: FlightToken, id: URLID)] = []
        for index in stride(from: Self.header, to: fields.count, by: Self.fieldsOfJob) {
            let token = FlightToken(try fields[index].asBytes())
            let page = try fields[index + 2].asBytes()
            let bytes = try fields[index + 1].asBytes()
            let stale = try fields[index + 3].asBytes()
            let job = LeasedJob(
                token: token, job: bytes, page: page.isEmpty ? nil : Page(page), stale: stale.isEmpty ? nil : Page(stale),
                batches: batches, now: now)
            if let job {
                jobs.append(job)
            } else if let id = LeasedJob.id(of: bytes) {
                unreadable.append((token, id))
            }
        }
        self.jobs = jobs
        self.unreadable = unreadable
    }
}
