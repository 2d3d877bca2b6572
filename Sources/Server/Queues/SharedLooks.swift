internal import Crawl
internal import GannetBase
internal import GannetQueue

/// Looks at Redis for all clients that watch something: fifty windows cost Redis as much as one.
final class SharedLooks: Sendable {
    private let cluster: ClusterState
    private let overviews = SharedLook<QueueOverview>()
    private let batches = SharedLook<(batches: [Batch], total: Int)>()
    private let numbers = SharedLook<Int?>()
    private let deadHosts = SharedLook<DeadHosts>()

    init(_ cluster: ClusterState) { self.cluster = cluster }

    /// How a queue stands.
    func look(at queue: FetchQueue) async -> QueueLook {
        if cluster.isAway { return .problem(Gateway.redisIsAway) }
        do {
            return .status(try await overviews.value(queue.name) { try await queue.overview() })
        } catch {
            return .problem("\(error)")
        }
    }

    /// A queue's latest batches, and how many it has.
    func batches(of queue: FetchQueue, limit: Int) async throws -> (batches: [Batch], total: Int) {
        try await batches.value("\(limit) \(queue.name)") { try await queue.batches(limit: limit) }
    }

    /// The number of a batch; nil for a name that no batch has.
    func number(ofBatch name: String, in queue: FetchQueue) async throws -> Int? {
        try await numbers.value("\(queue.name) \(name)") { try await queue.number(ofBatch: name) }
    }

    /// The hosts of a queue's dead jobs, those with the most jobs of a class first.
    func deadHosts(of queue: FetchQueue) async throws -> DeadHosts {
        try await deadHosts.value(queue.name) {
            let page = try await queue.jobs(JobSelection(.dead), limit: DeadHosts.mostJobs)
            var counts: [DeadHosts.Kind: Int] = [:]
            for job in page.jobs { counts[DeadHosts.Kind(host: job.entry.host, errorClass: job.errorClass ?? "unknown"), default: 0] += 1 }
            let sorted = counts.sorted { ($1.value, $0.key.host, $0.key.errorClass) < ($0.value, $1.key.host, $1.key.errorClass) }
            return DeadHosts(kinds: Array(sorted.prefix(DeadHosts.most)), isMore: page.next != nil)
        }
    }
}

/// A kind of look. Clients that ask for the same within a second share one.
private final class SharedLook<Value: Sendable>: Sendable {
    private let latest = Mutex<[String: (began: ContinuousClock.Instant, look: Task<Value, any Error>)]>([:])

    /// For how long a look serves clients. A client that looks each second gets a new one each time.
    private static var served: Duration { .milliseconds(900) }

    func value(_ subject: String, _ look: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let now = ContinuousClock.now
        let shared = latest.withLock { latest in
            if let known = latest[subject], now - known.began < Self.served { return known.look }
            let task = Task { try await look() }
            // There are no more of them than clients that have asked in this second.
            latest = latest.filter { now - $0.value.began < Self.served }
            latest[subject] = (now, task)
            return task
        }
        return try await shared.value
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

/// A look at a queue, and the news of an event. Looks that differ in times alone are equal: a queue in which nothing happens has no news.
enum QueueLook: Equatable, Sendable {
    case status(QueueOverview)
    case problem(String)

    /// As server-sent events are written.
    func event(of queue: FetchQueue) -> String {
        let (name, data): (String, JSONValue) =
            switch self {
            case .status(let overview): ("status", QueueStatus.fields.json(of: QueueStatus(queue.name, overview, nil)))
            case .problem(let detail): ("problem", ["class": "redis", "detail": .string(detail)])
            }
        return "event: \(name)\ndata: \(data.text)\n\n"
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
        Dictionary(workers.map { ($0.id, $0.state) }) { first, _ in first }
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
