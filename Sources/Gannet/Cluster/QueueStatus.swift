internal import ClusterState

/// A queue's depths and totals.
package struct QueueStatus: Sendable, Equatable {
    package let isPaused: Bool

    package let ready: Int
    package let active: Int
    /// Waiting for another job's fetch of the same URL.
    package let parked: Int
    package let delayed: Int
    /// Given up and kept to be looked at.
    package let dead: Int

    package let enqueued: Int
    /// Those fetched, revalidated and cached together.
    package let done: Int
    package let fetched: Int
    package let revalidated: Int
    package let cached: Int
    package let failed: Int
    package let cancelled: Int
    package let retried: Int
    package let crashed: Int
    package let fenced: Int
    package let doubleFetches: Int
    package let bytes: Int

    init(_ counts: QueueCounts) {
        isPaused = counts.isPaused
        ready = counts.ready
        active = counts.active
        parked = counts.parked
        delayed = counts.delayed
        dead = counts.dead
        enqueued = counts.enqueued
        done = counts.done
        fetched = counts.fetched
        revalidated = counts.revalidated
        cached = counts.cached
        failed = counts.failed
        cancelled = counts.cancelled
        retried = counts.retried
        crashed = counts.crashed
        fenced = counts.fenced
        doubleFetches = counts.doubleFetches
        bytes = counts.bytes
    }
}
