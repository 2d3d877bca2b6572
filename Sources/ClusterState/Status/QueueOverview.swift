internal import GannetBasics

/// A queue at one moment, and the minutes before.
package struct QueueOverview: Sendable, Equatable {
    /// Queue time, ms, as all other moments here.
    package let now: Int
    package let counts: QueueCounts

    /// When the oldest of the waiting jobs was enqueued, as far as the heads of the lists tell.
    package let oldestReady: Int?

    /// Of the last quarter of an hour, as far as there were workers in it; the oldest first.
    package let samples: [QueueSample]

    /// The workers heard of lately; the last that was heard first.
    package let workers: [WorkerStatus]

    /// Other queues of the namespace that had workers lately; the last that was heard of first, and eight at most.
    package let others: [OtherQueue]

    /// Jobs that nobody can take now.
    package let waits: QueueWaits

    /// Requests in flight now, of the whole fleet, at the busiest hosts. A worker's own account is as old as its heartbeat.
    package let running: [String: Int]

    package init(
        now: Int, counts: QueueCounts, oldestReady: Int?, samples: [QueueSample], workers: [WorkerStatus], others: [OtherQueue] = [],
        waits: QueueWaits = .init(), running: [String: Int] = [:]
    ) {
        self.now = now
        self.counts = counts
        self.oldestReady = oldestReady
        self.samples = samples
        self.workers = workers
        self.others = others
        self.waits = waits
        self.running = running
    }
}

extension QueueOverview {
    /// How long the oldest of the waiting jobs has been there; `nil` when none waits.
    package var oldestAge: Duration? { oldestReady.map { .milliseconds(max(0, now - $0)) } }

    package var history: QueueHistory { QueueHistory(self) }

    /// Of the last minute; `nil` while nothing has been seen of it.
    package var rate: QueueRate? { history.rate }

    /// When all jobs will have ended, at the present speed and if no more come; `nil` when that cannot be told.
    package var remaining: Duration? {
        counts.open > 0 && (counts.isPaused || !hasLiveWorker) ? nil : history.remaining(open: counts.open)
    }

    /// Whether a worker was heard of in the last seconds.
    package var hasLiveWorker: Bool { workers.contains { $0.state(at: now) != .silent } }

    /// The workers by their machines.
    package var sortedWorkers: [WorkerStatus] {
        workers.sorted { ($0.record?.machine ?? "", $0.id) < ($1.record?.machine ?? "", $1.id) }
    }

    /// The hosts of the living workers, the busiest first.
    package var hosts: [HostStatus] {
        HostStatus.merged(workers.filter { $0.state(at: now) != .silent }.compactMap(\.record), running: running)
    }
}

/// A queue beside the one that somebody looks at.
package struct OtherQueue: Sendable, Equatable {
    package let name: String

    /// Jobs that have not ended.
    package let open: Int

    /// Those heard of in the last seconds; a hundred stands for more, too.
    package let workers: Int

    package init(name: String, open: Int, workers: Int) {
        self.name = name
        self.open = open
        self.workers = workers
    }
}

/// How far a queue had come at a moment.
package struct QueueSample: Sendable, Equatable {
    package let time: Int
    package let done: Int
    package let failed: Int
    package let bytes: Int

    /// Jobs that had not ended.
    package let open: Int

    package init(time: Int, done: Int, failed: Int, bytes: Int, open: Int) {
        self.time = time
        self.done = done
        self.failed = failed
        self.bytes = bytes
        self.open = open
    }

    /// `nil` for a sample in another form than expected.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let time = reader.number(6), let done = reader.number(6), let failed = reader.number(6), let count = reader.number(6),
            let open = reader.number(6)
        else { return nil }
        self.init(time: time, done: done, failed: failed, bytes: count, open: open)
    }
}

/// Jobs that nobody can take now, and their reasons.
package struct QueueWaits: Sendable, Equatable {
    /// Ready jobs whose hosts rest or have no room; and how many hosts these are.
    package var held = 0
    package var hosts = 0

    /// Jobs that wait for their time: the next attempt, or the first.
    package var delayed = 0

    package var total: Int { held + delayed }

    package init(held: Int = 0, hosts: Int = 0, delayed: Int = 0) {
        self.held = held
        self.hosts = hosts
        self.delayed = max(0, delayed)
    }
}

/// Jobs of a queue: all that were accepted, those of them that have ended, and those that nobody can take now.
package struct QueueProgress: Sendable, Equatable {
    package let accepted: Int
    package let ended: Int
    package let waits: QueueWaits
}
