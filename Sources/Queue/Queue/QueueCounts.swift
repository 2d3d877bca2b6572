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

    package init() {}

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

extension QueueCounts {
    private static var totals: [(name: String, path: WritableKeyPath<QueueCounts, Int>)] {
        [
            ("active", \.active), ("parked", \.parked), ("delayed", \.delayed), ("enqueued", \.enqueued), ("done", \.done),
            ("fetched", \.fetched), ("revalidated", \.revalidated), ("cached", \.cached), ("failed", \.failed),
            ("cancelled", \.cancelled), ("retried", \.retried), ("crashed", \.crashed), ("fenced", \.fenced),
            ("doubleFetches", \.doubleFetches), ("bytes", \.bytes),
        ]
    }

    /// The names of the counters in Redis, in the order in which they are read.
    static let fields = (totals.map(\.name) + ["paused"]).map { RedisArgument.string($0) }

    package init(_ reply: RedisReply, dead: Int) throws(RedisError) {
        let values = try reply.fields(Self.fields.count, of: "HMGET")
        for (value, total) in zip(values, Self.totals) { self[keyPath: total.path] = try value.asCount() }
        partitions = 1
        paused = try values[Self.totals.count].asOptionalBytes() == nil ? 0 : 1
        self.dead = dead
        ready = enqueued - done - failed - cancelled - active - parked - delayed
    }
    /// Adds another partition's part of the queue.
    mutating func add(_ other: QueueCounts) {
        for (_, path) in Self.totals { self[keyPath: path] += other[keyPath: path] }
        ready += other.ready
        dead += other.dead
        paused += other.paused
        partitions += other.partitions
    }
}
