internal import Crawl
internal import GannetBase
internal import GannetQueue

/// Looks at Redis for all clients that watch something: fifty windows cost Redis as much as one.
final class SharedLooks: Sendable {
    private struct Latest {
        let began: ContinuousClock.Instant
        let look: Task<any Sendable, any Error>
    }

    private let cluster: ClusterState
    private let latest = Mutex<[String: Latest]>([:])

    /// For how long a look serves clients. A client that looks each second gets a new one each time.
    private static let served = Duration.milliseconds(900)

    init(_ cluster: ClusterState) { self.cluster = cluster }

    /// The result of a look that began in the last second.
    /// - Parameter subject: The name of the look. Clients with the same name share it.
    private func share<Value: Sendable>(_ subject: String, _ look: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let now = ContinuousClock.now
        let shared = latest.withLock { latest in
            if let known = latest[subject], now - known.began < Self.served { return known.look }
            let task = Task<any Sendable, any Error> { try await look() }
            // There are no more of them than clients that have asked in this second.
            latest = latest.filter { now - $0.value.began < Self.served }
            latest[subject] = Latest(began: now, look: task)
            return task
        }
        guard let value = try await shared.value as? Value else { preconditionFailure("'\(subject)' is two kinds of looks.") }
        return value
    }

    /// How a queue stands.
    func look(at queue: FetchQueue) async -> QueueLook {
        if cluster.isAway { return .problem(QueueAccess.redisIsAway) }
        do { return .status(try await share("status \(queue.name)") { try await queue.overview() }) } catch { return .problem("\(error)") }
    }

    /// A queue's latest batches.
    func batches(of queue: FetchQueue, limit: Int) async throws -> LatestBatches {
        try await share("batches \(limit) \(queue.name)") {
            let (batches, total) = try await queue.batches(limit: limit)
            return LatestBatches(batches: batches, total: total)
        }
    }

    /// The number of a batch; nil for a name that no batch has.
    func number(ofBatch name: String, in queue: FetchQueue) async throws -> Int? {
        try await share("number \(queue.name) \(name)") { BatchNumber(number: try await queue.number(ofBatch: name)) }.number
    }

    /// The hosts of a queue's dead jobs, those with the most jobs of a class first.
    func deadHosts(of queue: FetchQueue) async throws -> DeadHosts {
        try await share("dead hosts \(queue.name)") {
            let page = try await queue.jobs(JobSelection(.dead), limit: DeadHosts.mostJobs)
            var counts: [DeadHosts.Kind: Int] = [:]
            for job in page.jobs { counts[DeadHosts.Kind(host: job.entry.host, errorClass: job.errorClass ?? "unknown"), default: 0] += 1 }
            let sorted = counts.sorted { ($1.value, $0.key.host, $0.key.errorClass) < ($0.value, $1.key.host, $1.key.errorClass) }
            return DeadHosts(kinds: Array(sorted.prefix(DeadHosts.most)), isMore: page.next != nil)
        }
    }

    private struct BatchNumber: Sendable {
        let number: Int?
    }
}

/// How many dead jobs there are of a host and a class of failures.
struct DeadHosts: Sendable {
    struct Kind: Sendable, Hashable {
        let host: String
        let errorClass: String
    }

    /// A look is about so many jobs, and answers so many kinds.
    static let mostJobs = 2000
    static let most = 20

    let kinds: [(key: Kind, value: Int)]
    /// There are more dead jobs than were looked at.
    let isMore: Bool
}

/// The latest batches of a queue, and how many it has.
struct LatestBatches: Sendable {
    let batches: [Batch]
    let total: Int
}

/// A look at a queue, and the news of an event. Looks that differ in times alone are equal: a queue in which nothing happens has no news.
enum QueueLook: Equatable, Sendable {
    case status(QueueOverview)
    case problem(String)

    var name: String {
        switch self {
        case .status: "status"
        case .problem: "problem"
        }
    }

    func data(of queue: FetchQueue) -> String {
        switch self {
        case .status(let overview): QueueStatus.fields.json(of: QueueStatus(queue.name, overview, nil)).text
        case .problem(let detail): JSONValue.object([("class", "redis"), ("detail", .string(detail))]).text
        }
    }

    static func == (one: QueueLook, other: QueueLook) -> Bool {
        switch (one, other) {
        case (.status(let one), .status(let other)): one.hasSameNews(as: other)
        case (.problem(let one), .problem(let other)): one == other
        default: false
        }
    }
}

extension QueueOverview {
    fileprivate func hasSameNews(as other: QueueOverview) -> Bool {
        counts == other.counts && waits.shown == other.waits.shown && standings == other.standings && others == other.others
            && oldestReady == other.oldestReady && rate == other.rate && workerStates == other.workerStates
    }

    private var workerStates: [String: WorkerStatus.State?] {
        Dictionary(workers.map { ($0.id, $0.state(at: now)) }) { first, _ in first }
    }
}

extension QueueWaits {
    /// Without the URLs, of which the JSON does not tell.
    fileprivate var shown: QueueWaits {
        var shown = self
        shown.retries = []
        return shown
    }
}
