internal import ClusterState

/// A queue's depths, totals and the server that keeps them.
package struct QueueStatus: Sendable, Equatable {
    package let ready: Int
    package let active: Int
    package let enqueued: Int
    package let fetched: Int
    package let failed: Int
    package let crashed: Int
    package let bytes: Int

    init(_ counts: QueueCounts) {
        ready = counts.ready
        active = counts.active
        enqueued = counts.enqueued
        fetched = counts.done
        failed = counts.failed
        crashed = counts.crashed
        bytes = counts.bytes
    }
}
