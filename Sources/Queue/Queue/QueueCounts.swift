package import GannetRedisClient

/// A queue's depths and totals.
package struct QueueCounts: Sendable, Equatable {
    /// Jobs that wait for a worker, or for their host to have room.
    package var ready = 0
    package var active = 0

    /// Jobs that wait for another fetch of the same URL.
    package var parked = 0
    package var delayed = 0
    /// Jobs that were given up and are kept for inspection.
    package var dead = 0

    package var enqueued = 0
    /// The sum of `fetched`, `revalidated` and `cached`.
    package var done = 0
    package var fetched = 0
    package var revalidated = 0
    package var cached = 0
    package var failed = 0
    package var cancelled = 0
    package var retried = 0
    package var crashed = 0
    package var fenced = 0
    package var doubleFetches = 0
    package var bytes = 0
    /// How many partitions are paused, of how many.
    package var paused = 0
    package var partitions = 0

    /// Workers claim nothing.
    package var isPaused: Bool { paused > 0 && paused >= partitions }

    /// Jobs that have not ended.
    package var open: Int { ready + active + parked + delayed }

    package var isEmpty: Bool { open == 0 }

    /// How many jobs are in a state.
    subscript(state: JobState) -> Int {
        switch state {
        case .ready: ready
        case .active: active
        case .parked: parked
        case .delayed: delayed
        case .dead: dead
        }
    }
}

/// A number of a queue, and its name in each place that shows it. A new number is a line here, and one in the script that counts it.
package struct QueueCount: Sendable {
    /// The part of the status.
    package enum Place: Sendable {
        case jobs, totals
    }

    package enum Metric: Sendable, Equatable {
        /// A label of the metric of all of these numbers.
        case state, outcome
        case counter(name: String, help: String)
        /// The others add up to it.
        case none
    }

    /// In Redis and in JSON.
    package let name: String
    package let place: Place
    package let path: any WritableKeyPath<QueueCounts, Int> & Sendable
    package let metric: Metric
    /// In `status`, where the number has no row with others.
    package var label: String?
    /// There is no row for zero.
    package var isRare = false
    /// Redis counts it. The others follow from these.
    fileprivate var isCounted = true

    package static let all: [QueueCount] = [
        .init(name: "ready", place: .jobs, path: \.ready, metric: .state, isCounted: false),
        .init(name: "active", place: .jobs, path: \.active, metric: .state),
        .init(name: "parked", place: .jobs, path: \.parked, metric: .state),
        .init(name: "delayed", place: .jobs, path: \.delayed, metric: .state),
        .init(name: "dead", place: .jobs, path: \.dead, metric: .state, isCounted: false),
        .init(
            name: "enqueued", place: .totals, path: \.enqueued,
            metric: .counter(name: "gannet_queue_enqueued_total", help: "Jobs the queue has accepted."), label: "enqueued"),
        .init(name: "done", place: .totals, path: \.done, metric: .none),
        .init(name: "fetched", place: .totals, path: \.fetched, metric: .outcome),
        .init(name: "revalidated", place: .totals, path: \.revalidated, metric: .outcome),
        .init(name: "cached", place: .totals, path: \.cached, metric: .outcome),
        .init(name: "failed", place: .totals, path: \.failed, metric: .outcome),
        .init(name: "cancelled", place: .totals, path: \.cancelled, metric: .outcome, label: "cancelled", isRare: true),
        .init(
            name: "retried", place: .totals, path: \.retried,
            metric: .counter(name: "gannet_queue_retried_total", help: "Attempts that were not the last."), label: "retried"),
        .init(
            name: "crashed", place: .totals, path: \.crashed,
            metric: .counter(name: "gannet_queue_crashed_total", help: "Attempts whose worker vanished."), label: "crashed"),
        .init(
            name: "fenced", place: .totals, path: \.fenced,
            metric: .counter(name: "gannet_queue_fenced_total", help: "Outcomes refused because the lease had been lost.")),
        .init(
            name: "doubleFetches", place: .totals, path: \.doubleFetches,
            metric: .counter(
                name: "gannet_queue_double_fetches_total", help: "URLs fetched by a worker whose lease had been lost meanwhile."),
            label: "fetched twice", isRare: true),
        .init(
            name: "bytes", place: .totals, path: \.bytes,
            metric: .counter(name: "gannet_queue_fetched_bytes_total", help: "Bytes of bodies that were fetched.")),
    ]

    fileprivate static let counted = all.filter(\.isCounted)
}

extension QueueCounts {
    /// The names of the counters in Redis, in the order in which they are read.
    static let fields = (QueueCount.counted.map(\.name) + ["paused"]).map { RedisArgument.string($0) }

    package init(_ reply: RedisReply, dead: Int) throws(RedisError) {
        let values = try reply.fields(Self.fields.count, of: "HMGET")
        for (value, count) in zip(values, QueueCount.counted) { self[keyPath: count.path] = try value.asCount() }
        partitions = 1
        paused = try values[QueueCount.counted.count].asOptionalBytes() == nil ? 0 : 1
        self.dead = dead
        ready = enqueued - done - failed - cancelled - active - parked - delayed
    }

    /// Adds another partition's part of the queue.
    mutating func add(_ other: QueueCounts) {
        for count in QueueCount.all { self[keyPath: count.path] += other[keyPath: count.path] }
        paused += other.paused
        partitions += other.partitions
    }
}
