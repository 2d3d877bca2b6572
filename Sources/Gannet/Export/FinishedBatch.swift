package import ClusterState

/// A batch as it was at one moment, and its jobs that had ended then.
package struct FinishedBatch: Sendable {
    package let batch: Batch
    let walk: FinishedWalk

    /// The number of ended jobs; a URL may have several.
    package var count: Int { walk.count }

    /// `nil` for an unknown batch.
    package init?(named name: String, in queue: FetchQueue) async throws(StateError) {
        // The record first: when it says that all has ended, all of it is in the list that is looked at then.
        guard let batch = try await queue.batch(named: name) else { return nil }
        self.batch = batch
        walk = FinishedWalk(queue: queue, batch: batch.number, count: try await queue.finishedCount(ofBatch: batch.number))
    }
}
