internal import RedisClient

/// A queue of URLs to fetch.
///
/// The queue hands a job to one worker at a time, on a lease, and no URL to two workers at once. A lease that is neither renewed nor ended
/// in time makes its job claimable again, so that no job is lost with its worker.
///
/// Calls wait for a Redis that is away. Only claims, renewals and heartbeats do not wait: the worker repeats these itself.
package struct FetchQueue: Sendable {
    package let cluster: ClusterState
    package let name: String
    let persistently: Persistence

    init(_ cluster: ClusterState, _ name: String, _ persistence: Persistence) {
        self.cluster = cluster
        self.name = name
        var persistence = persistence
        persistence.servers = ServerWatch(connection: cluster.connection, partitions: cluster.partitions)
        persistently = persistence
    }

    package static let longestName = 128

    func checkedName() throws(StateError) -> String {
        // A colon separates the parts of a key. A name with a colon could give two queues the same keys.
        let isForbidden = { (byte: UInt8) in byte < 0x20 || byte == 0x7f || byte == UInt8(ascii: ":") }
        guard (1...Self.longestName).contains(name.utf8.count), !name.utf8.contains(where: isForbidden) else {
            throw .invalid("A queue's name has 1 to \(Self.longestName) bytes, no colon and no control characters.")
        }
        return name
    }

    func run(_ script: RedisScript, in partition: Partition, _ arguments: [RedisArgument]) async throws -> RedisReply {
        try await cluster.run(script, in: partition, queue: checkedName(), arguments)
    }

    /// The queue's depths and totals. The cost does not depend on the number of jobs.
    package func counts() async throws(StateError) -> QueueCounts {
        try await persistently {
            var sum = QueueCounts()
            for partition in cluster.partitions {
                let command = RedisCommand([.string("HMGET"), partition.keys.queue(name)] + QueueCounts.fields)
                let replies = await cluster.connection.pipeline([command, RedisCommand("ZCARD", partition.keys.dead(of: name))])
                sum.add(try QueueCounts(try replies[0].get(), dead: try replies[1].get().asInteger()))
            }
            return sum
        }
    }

    /// Stops workers from claiming jobs. Workers finish the jobs that they hold. Returns whether the queue was paused before.
    @discardableResult
    package func pause() async throws(StateError) -> Bool { try await set(isPaused: true) }

    /// Lets workers claim jobs again. Returns whether the queue was paused.
    @discardableResult
    package func resume() async throws(StateError) -> Bool { try await set(isPaused: false) }

    private func set(isPaused: Bool) async throws(StateError) -> Bool {
        let wasPaused = try await counts().isPaused
        for partition in cluster.partitions {
            let key = partition.keys.queue(name)
            var commit = Commit()
            commit.effect = .wakes(isPaused ? 0 : .max)
            if isPaused { commit.write("HSET", key, "paused", 1) } else { commit.write("HDEL", key, "paused") }
            try await persistently { _ = try await commit.run(cluster, in: partition, queue: checkedName()) }
        }
        return wasPaused
    }

    /// Calls `Scripts/control.lua`.
    func control(_ action: String, _ arguments: RedisArgument..., in partition: Partition) async throws(StateError) -> Int {
        try await persistently { try await run(cluster.scripts.control, in: partition, [.string(action)] + arguments).asInteger() }
    }
}
