internal import ClusterState
internal import RedisClient

/// Bodies on their way out.
extension Cluster {
    /// What has ended of a batch; `nil` for one that is not known.
    package func finished(batch name: String, of queue: String) async throws(ClusterError) -> FinishedBatch? {
        let queue = self.queue(queue)
        return try await ClusterError.wrapping { () throws(StateError) in
            // The state first: when it says that all has ended, all of it is in the list that is looked at then.
            guard let record = try await queue.batch(named: name) else { return nil }
            let status = BatchStatus(record, now: try await queue.now())
            let count = try await queue.finishedCount(ofBatch: record.number)
            return FinishedBatch(
                status: status, headers: ExtraHeaders(record.options.headers),
                walk: FinishedWalk(queue: queue, batch: record.number, count: count))
        }
    }

    /// The bodies of a batch on their way to a folder; to be closed.
    /// - Parameters:
    ///   - store: The folder of the batch's workers, where they have one.
    ///   - refetches: Bodies that are not kept will be fetched again.
    ///   - report: Called for every URL, from any thread.
    package func export(
        _ batch: FinishedBatch, into folder: RecordedFolder, store: BodyFolder?, refetches: Bool, patience: Duration,
        report: @escaping @Sendable (WorkerReport) -> Void
    ) async throws(ClusterError) -> BatchExport {
        let connection = try await connection(patience: Self.bodyPatience)
        let source = ExportSource(connection, namespace: namespace, folder: store, patience: patience)
        return BatchExport(batch.walk, into: folder, from: source, refetches: refetches, report: report)
    }
}
