internal import RedisClient

/// Heartbeats of workers.
extension FetchQueue {
    /// Tells Redis that a worker is alive, and what the worker is doing. A worker repeats this every few seconds, and a queue remembers at
    /// most a thousand workers. A lost heartbeat is not repeated, because the next one follows.
    package func beat(_ worker: String, _ record: WorkerRecord) async throws(StateError) -> QueueProgress {
        try await heartbeat(worker, record.bytes)
    }

    /// Tells Redis that a worker has ended.
    package func leave(_ worker: String) async throws(StateError) { _ = try await heartbeat(worker, []) }

    private func heartbeat(_ worker: String, _ record: [UInt8]) async throws(StateError) -> QueueProgress {
        let (progress, intents) = try await StateError.mapping {
            var (others, waits) = (QueueCounts(), QueueWaits())
            for partition in cluster.partitions {
                let part = try await look(at: partition, isForOnlookers: false)
                if partition != cluster.home { others.add(part.counts) }
                waits.add(part.waits)
            }
            let reply = try await run(
                ClusterScripts.heartbeat, in: cluster.home,
                [.string(worker), .bytes(record)]
                    + [others.done, others.failed, others.bytes, others.open].map { RedisArgument.integer($0) })
            let fields = try reply.fields(3, of: "heartbeat")
            let intents = try fields[2].asArray()
            let progress = QueueProgress(
                accepted: try fields[0].asInteger() + others.enqueued, ended: try fields[1].asInteger() + others.enqueued - others.open,
                waits: waits)
            return (
                progress,
                try stride(from: 0, to: intents.count - 1, by: 2).compactMap { index -> QueueIntent? in
                    QueueIntent(field: try intents[index].asString(), value: try intents[index + 1].asString())
                }
            )
        }
        // The commands behind these intents have stopped half-way.
        for intent in intents where cluster.partitions.count > 1 { _ = try await finish(intent) }
        return progress
    }

    /// Runs an exchange that settles nothing and takes no job, so that a check of a worker uses the same path through Redis. Like any
    /// exchange, this one also takes back a part of what ended leases held.
    /// - Parameters:
    ///   - lease: The worker's lease.
    ///   - host: The worker's politeness towards hosts.
    package func tryClaiming(lease: Duration, host: HostRule) async throws(StateError) {
        // All checks share this incarnation, which never holds anything.
        var request = ExchangeRequest(Incarnation(0), number: 1, lease: lease)
        request.host = host
        _ = try await exchange(request, in: cluster.home)
    }
}
