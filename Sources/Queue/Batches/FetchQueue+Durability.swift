internal import GannetRedisClient

/// When a producer says that jobs are accepted.
package enum Durability: String, Sendable, CaseIterable {
    /// The primary has them.
    case primary
    /// A replica of the primary has them too, so that they survive the loss of the primary.
    case replicated
}

extension FetchQueue {
    /// How long one `WAIT` blocks its connection. A replica answers at once when it is asked.
    private static let step = Duration.milliseconds(500)

    /// Throws where the user may not wait for replicas. A producer that heard of that at its end would have put its jobs into the queue.
    package func checkRightToWait() async throws(StateError) {
        try await persistently {
            // A wait for no replica ends at once.
            let reply = await cluster.connection.pipeline([RedisCommand("WAIT", 0, 1)], at: cluster.home.keys.state)[0]
            if case .failure(let error) = reply, error.kind == .notPermitted || error.isTransient { throw error }
        }
    }

    /// Waits until a replica of each partition's server has all that was accepted of a batch.
    ///
    /// `WAIT` stands for all that the server had written before, on whichever connection. So the ledger is read in the same call: a server
    /// that has taken over without the last chunk shows it there.
    /// - Throws: ``StateError/notReplicated(_:server:)`` when the replicas do not say so in time.
    package func confirmReplicas(of progress: BatchProgress, within patience: Duration) async throws(StateError) {
        let deadline = ContinuousClock.now + patience
        for partition in cluster.partitions {
            while try await !hasReplica(partition, progress) {
                guard .now < deadline else { throw .notReplicated(patience, server: server(of: partition)) }
            }
        }
    }

    /// The server's name where there are several.
    private func server(of partition: Partition) -> String? {
        cluster.isSpread ? cluster.connection.primary(of: partition.keys.state)?.address.description : nil
    }

    private func hasReplica(_ partition: Partition, _ progress: BatchProgress) async throws(StateError) -> Bool {
        let record = RedisCommand("HMGET", partition.keys.batch(progress.number, of: name), "offset", "state", "id")
        let wait = RedisCommand("WAIT", 1, .integer(Self.step.wholeMilliseconds))
        return try await persistently {
            let replies = await cluster.connection.pipeline([record, wait])
            let fields = try replies[0].get().fields(3, of: "HMGET")
            let (offset, state, batch) = (
                try fields[0].asCount(), try fields[1].asOptionalString(), try fields[2].asOptionalString()
            )
            let isClosed = state.map { $0 != "open" } ?? false
            guard state != nil, batch == progress.name, offset >= progress.offsets[partition.index], isClosed || progress.state == .open
            else {
                throw StateError.batchLost(accepted: progress.total)
            }
            return try replies[1].get().asInteger() > 0
        }
    }
}
