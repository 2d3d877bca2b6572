internal import RedisClient

/// The arguments of a worker's claim.
package struct ClaimRequest: Sendable {
    package var limit: Int
    package var lease: Duration

    /// A new value for each claim. A repeated claim has the same value, and brings the same jobs.
    package var nonce: Nonce

    /// The worker's name. Redis remembers the last claim of each worker.
    package var worker: String

    /// The channel on which the worker hears of new jobs when there are none now. The worker must listen before it claims.
    package var inbox: String?

    /// The politeness towards hosts for which no rule is stored.
    package var host = HostRule(limit: 8)

    /// How many given-up jobs are kept.
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
    package static let unreadableClass = "unreadable"

    /// The outcome of a URL that three workers died with.
    static let poison: [UInt8] = {
        var content = OutcomeContent(url: "")
        content.fields = [.errorClass: poisonClass, .errorMessage: "Three workers died while they had it."]
        return content.bytesWithoutURL
    }()

    /// The outcome of a URL whose host took no connection for too long.
    static let hostGivenUp: [UInt8] = {
        var content = OutcomeContent(url: "")
        content.fields = [.errorClass: "connect", .errorMessage: "Its host has taken no connection for so long that it was given up."]
        return content.bytesWithoutURL
    }()
    static let poisonKept = Duration.seconds(24 * 3600)
}

/// The answer to a claim.
package struct Claim: Sendable {
    package enum Left: Int, Sendable {
        case jobs = 0
        /// All accepted jobs have ended.
        case nothing
        /// The jobs that are left can be read by a newer version only.
        case onlyForeign
    }

    package let jobs: [Job]

    /// Jobs whose URL is not valid UTF-8. The script cannot tell, and no worker can fetch them.
    let unreadable: [(token: LockToken, id: URLID)]

    /// Queue time, ms.
    package let now: Int
    package let left: Left

    /// Another claim may bring more jobs at once, because this claim stopped at its bound.
    package let isMore: Bool

    /// How long the worker may wait before it looks again, unless it hears of something earlier. A job falls due then, or a lease may have
    /// ended.
    package let next: Duration?

    /// How many jobs the claim itself ended as failed. Three workers had died with such a job, its URL had failed before, its host is given
    /// up, or its URL is not valid UTF-8.
    package let failed: Int
    package let isPaused: Bool
}

extension Claim {
    private static let header = 7
    private static let fieldsOfJob = 4

    init(_ reply: RedisReply) throws(RedisError) {
        let fields = try reply.asArray()
        guard fields.count >= Self.header, (fields.count - Self.header).isMultiple(of: Self.fieldsOfJob),
            let left = Left(rawValue: try fields[1].asInteger())
        else { throw .form(of: "claim") }
        now = try fields[0].asInteger()
        self.left = left
        let next = try fields[3].asInteger()
        self.next = next < 0 ? nil : .milliseconds(next)
        isPaused = try fields[5].asInteger() == 1
        let batches = try LeasedBatch.byNumber(try fields[6].asArray())
        var jobs: [Job] = []
        var unreadable: [(token: LockToken, id: URLID)] = []
        for index in stride(from: Self.header, to: fields.count, by: Self.fieldsOfJob) {
            let token = LockToken(try fields[index].asBytes())
            let bytes = try fields[index + 1].asBytes()
            let job = Job(
                token: token, job: bytes, outcome: URLOutcome(try fields[index + 2].asBytes()),
                stale: URLOutcome(try fields[index + 3].asBytes()),
                batches: batches, now: now)
            if let job {
                jobs.append(job)
            } else if let id = Job.id(of: bytes) {
                unreadable.append((token, id))
            }
        }
        self.jobs = jobs
        self.unreadable = unreadable
        failed = try fields[4].asInteger() + unreadable.count
        isMore = try fields[2].asInteger() == 1 || !unreadable.isEmpty
    }
}
