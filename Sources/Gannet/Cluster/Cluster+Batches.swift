internal import ClusterState

/// Submissions, one by one.
extension Cluster {
    /// The batches of a queue that are remembered, the latest first, at most `limit` of them; and how many there are.
    package func batches(of queue: String, limit: Int) async throws(ClusterError) -> (batches: [BatchStatus], total: Int) {
        try await ClusterError.wrapping { () throws(StateError) in
            let queue = self.queue(queue)
            let (records, total) = try await queue.batches(limit: limit)
            let now = try await queue.now()
            return (records.map { BatchStatus($0, now: now) }, total)
        }
    }

    /// A batch; `nil` for one that is not known.
    package func batch(_ name: String, of queue: String) async throws(ClusterError) -> BatchStatus? {
        try await ClusterError.wrapping { () throws(StateError) in
            let queue = self.queue(queue)
            guard let record = try await queue.batch(named: name) else { return nil }
            return BatchStatus(record, now: try await queue.now())
        }
    }

    /// Ends what waits of a batch; what is in flight is finished, and not tried again. Returns how many jobs ended, `nil` for a batch
    /// that is not known.
    package func cancel(batch: String, of queue: String) async throws(ClusterError) -> Int? {
        try await ClusterError.wrapping { () throws(StateError) in try await self.queue(queue).cancel(batch: batch) }
    }
}
