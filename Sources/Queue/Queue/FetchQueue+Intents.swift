internal import GannetRedisClient

/// Work on all partitions of a queue that must not stop half-way: the home partition knows of it until it is done. With one partition there
/// is no half-way, and nothing is noted.
package enum QueueIntent: Equatable {
    case cancel(batch: Int)
    /// Removes the queue. A paused queue may stay paused.
    case clear(keepingPause: Bool)

    private static let cancelled = "intent:cancel:", cleared = "intent:clear"

    /// The field of the queue's hash in the home partition.
    package var field: String {
        switch self {
        case .cancel(let number): Self.cancelled + "\(number)"
        case .clear: Self.cleared
        }
    }

    /// - Parameter time: Queue time in ms. Workers finish only what is some time old.
    package func value(at time: Int) -> String {
        if case .clear(true) = self { "\(time) 1" } else { "\(time) 0" }
    }

    package init?(field: String, value: String) {
        if field == Self.cleared {
            self = .clear(keepingPause: value.hasSuffix(" 1"))
        } else if field.hasPrefix(Self.cancelled), let number = Int(field.dropFirst(Self.cancelled.count)) {
            self = .cancel(batch: number)
        } else {
            return nil
        }
    }

    static let clearField = RedisArgument.string(cleared)
}

extension FetchQueue {
    /// Ends the waiting jobs of a batch, and returns how many. Workers finish the jobs that they hold, and nobody retries those jobs.
    package func cancel(batch number: Int) async throws(StateError) -> Int {
        let isKnown = try await persistently {
            try await cluster.connection.send(RedisCommand("EXISTS", cluster.home.keys.batch(number, of: checkedName()))).asInteger() == 1
        }
        guard isKnown else { throw .unknownBatch }
        return try await carryOut(.cancel(batch: number))
    }

    /// Removes the queue and everything in it.
    package func clear() async throws(StateError) { try await clear(keepingPause: false) }

    /// Removes everything in the queue, also its batches and totals. A paused queue stays paused.
    package func purge() async throws(StateError) {
        // A namespace that nobody uses stays without keys.
        if cluster.hasSchema { try await clear(keepingPause: true) }
    }

    private func clear(keepingPause: Bool) async throws(StateError) {
        let store = BlobStore(cluster)
        let held = try await heldBatches(in: store)
        _ = try await carryOut(.clear(keepingPause: keepingPause))
        try await persistently { try await store.release(held) }
    }

    /// The queue's batches that hold bodies. Keys that hold something else are an error here, before anything is removed.
    private func heldBatches(in store: BlobStore) async throws(StateError) -> [HoldingBatch] {
        do throws(StateError) {
            return try await persistently {
                let held = try await store.holdingBatches().filter { $0.queue == name }
                if !held.isEmpty { _ = try await store.usage() }
                return held
            }
        } catch  where error.redis?.kind == .notPermitted {
            // A user without the right to bodies has none there.
            return []
        }
    }

    /// Finishes a removal of the queue that was stopped half-way, before anything new is put into it.
    func finishClearing() async throws(StateError) {
        guard cluster.partitions.count > 1 else { return }
        let value = try await persistently {
            try await cluster.connection.send(RedisCommand("HGET", cluster.home.keys.queue(checkedName()), QueueIntent.clearField))
                .asOptionalString()
        }
        if let value, let intent = QueueIntent(field: "intent:clear", value: value) { _ = try await finish(intent) }
    }

    private func carryOut(_ intent: QueueIntent) async throws(StateError) -> Int {
        guard cluster.partitions.count > 1 else { return try await run(intent) }
        let now = try await cluster.now()
        try await persistently {
            _ = try await cluster.connection.send(
                RedisCommand("HSET", cluster.home.keys.queue(checkedName()), .string(intent.field), .string(intent.value(at: now))))
        }
        return try await finish(intent)
    }

    /// Does what was intended, from its beginning: each part of it may be repeated.
    func finish(_ intent: QueueIntent) async throws(StateError) -> Int {
        let count = try await run(intent)
        try await persistently {
            _ = try await cluster.connection.send(RedisCommand("HDEL", cluster.home.keys.queue(checkedName()), .string(intent.field)))
        }
        return count
    }

    private func run(_ intent: QueueIntent) async throws(StateError) -> Int {
        var count = 0
        switch intent {
        case .cancel(let number):
            // The home partition is the first, so that the batch's producer stops at its next chunk.
            count = try await control("cancel", .integer(number), in: cluster.home)
            let others = Array(cluster.partitions.dropFirst())
            let (counts, failed, error) = try await everywhere(others) { partition throws(StateError) in
                try await control("cancel", .integer(number), in: partition)
            }
            count += counts.reduce(0, +)
            if let error {
                throw .partly(
                    "The jobs of the batch are cancelled but for \(failed) of \(cluster.partitions.count) partitions, \(count) of them now. "
                        + "A worker cancels the rest when these can be reached, and so does the same command again.", error)
            }
        case .clear(let keepsPause):
            // The home partition is the last: as long as it knows the queue, its intent stands.
            for partition in cluster.partitions.reversed() {
                while try await control("clear", .integer(keepsPause ? 1 : 0), in: partition) == 1 {}
            }
        }
        return count
    }
}
