internal import ClusterState

/// What is to be seen of a queue at one moment.
package struct QueueReport: Sendable {
    package let status: QueueStatus

    /// How long the oldest of the jobs that wait has been there; `nil` when none waits.
    package let oldestReady: Duration?

    /// Of the last minute; `nil` while nothing has been seen of it.
    package let rate: QueueRate?

    /// The workers heard of lately, the longest known first.
    package let workers: [WorkerStatus]

    /// The hosts that living workers have to do with, the busiest first.
    package let hosts: [HostStatus]

    /// Queues of the namespace that others work on, or have left with something in it lately; eight at most.
    package let others: [OtherQueueStatus]

    /// What cannot be taken now.
    package let waits: QueueWaits

    /// The last quarter of an hour.
    package let history: QueueHistory

    init(_ overview: QueueOverview) {
        status = QueueStatus(overview.counts)
        oldestReady = overview.oldestReady.map { .milliseconds(max(0, overview.now - $0)) }
        others = overview.others.map { OtherQueueStatus(name: $0.name, open: $0.open, workers: $0.workers) }
        waits = QueueWaits(overview.held, delayed: overview.counts.delayed)
        history = QueueHistory(overview)
        rate = history.rate
        workers = overview.workers.map { WorkerStatus($0, now: overview.now) }.sorted { ($0.host ?? "", $0.id) < ($1.host ?? "", $1.id) }
        hosts = HostStatus.merged(
            overview.workers.filter { WorkerStatus($0, now: overview.now).state != .silent }.compactMap(\.record), running: overview.running
        )
    }

    /// Jobs that have not ended.
    package var open: Int { status.ready + status.active + status.parked + status.delayed }

    /// When all will have ended, at the speed of late and if no more come; `nil` when that cannot be told.
    package var remaining: Duration? { status.isPaused && open > 0 ? nil : history.remaining(open: open) }
}

/// How fast a queue goes.
package struct QueueRate: Sendable, Equatable {
    package let donePerSecond: Double
    /// Done or given up.
    package let endedPerSecond: Double
    package let bytesPerSecond: Double
}
