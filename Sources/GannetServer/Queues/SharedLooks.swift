internal import ClusterState
internal import Gannet
internal import GannetBasics

/// Looks at queues for all clients that watch them: fifty windows cost Redis as much as one.
final class SharedLooks: Sendable {
    private struct Latest {
        let began: ContinuousClock.Instant
        let look: Task<QueueLook, Never>
    }

    private let cluster: ClusterState
    private let latest = Mutex<[String: Latest]>([:])

    /// For how long a look serves clients. Those who look each second get a new one each time.
    private static let served = Duration.milliseconds(900)

    init(_ cluster: ClusterState) { self.cluster = cluster }

    /// A look that began in the last second.
    func look(at queue: FetchQueue) async -> QueueLook {
        let now = ContinuousClock.now
        let shared = latest.withLock { latest in
            if let known = latest[queue.name], now - known.began < Self.served { return known.look }
            let look = Task { await self.newLook(at: queue) }
            // There are no more of them than clients that have asked in this second.
            latest = latest.filter { now - $0.value.began < Self.served }
            latest[queue.name] = Latest(began: now, look: look)
            return look
        }
        return await shared.value
    }

    private func newLook(at queue: FetchQueue) async -> QueueLook {
        if cluster.isAway { return .problem(QueueAccess.redisIsAway) }
        do { return .status(try await queue.overview()) } catch { return .problem("\(error)") }
    }
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
        case .status(let overview): overview.json(queue.name, nil).text
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
        counts == other.counts && waits == other.waits && standings == other.standings && others == other.others
            && oldestReady == other.oldestReady && rate == other.rate && workerStates == other.workerStates
    }

    private var workerStates: [String: WorkerStatus.State?] {
        Dictionary(workers.map { ($0.id, $0.state(at: now)) }) { first, _ in first }
    }
}
