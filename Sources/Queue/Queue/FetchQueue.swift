internal import GannetBase
internal import GannetRedisClient

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
        let isForbidden = { (byte: UInt8) in byte.isControl || byte == UInt8(ascii: ":") }
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
                sum.add(
                    try partition.keys.naming(name) { try QueueCounts(replies[0].get(), dead: replies[1].get().asInteger()) })
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
        let wasPaused = try await everywhere { partition throws(StateError) in
            let key = partition.keys.queue(name)
            var commit = Commit()
            commit.effect = .wakes(isPaused ? 0 : .max)
            if isPaused { commit.write("HSET", key, "paused", 1) } else { commit.write("HDEL", key, "paused") }
            return try await persistently {
                let was = try await cluster.connection.send(RedisCommand("HEXISTS", key, "paused")).asInteger() == 1
                _ = try await commit.run(cluster, in: partition, queue: checkedName())
                return was
            }
        }
        let (paused, failed, error) = wasPaused
        if let error {
            if paused.isEmpty { throw error }
            throw .partly(
                "The queue is \(isPaused ? "paused" : "resumed") but for \(failed) of its \(cluster.partitions.count) partitions: "
                    + "give the same command again for these.", error)
        }
        return isPaused ? paused.allSatisfy { $0 } : paused.contains(true)
    }

    /// Calls all partitions at once. Answers what those said that carried it out, how many did not, and the first error. An error that no
    /// wait ends comes before others.
    func everywhere<Value: Sendable>(
        _ partitions: [Partition]? = nil, _ call: @escaping @Sendable (Partition) async throws(StateError) -> Value
    ) async throws(StateError) -> (values: [Value], failed: Int, error: StateError?) {
        let results = await withTaskGroup(of: Result<Value, StateError>.self) { group in
            for partition in partitions ?? cluster.partitions {
                group.addTask { () async -> Result<Value, StateError> in
                    do throws(StateError) { return .success(try await call(partition)) } catch { return .failure(error) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        var (values, errors): ([Value], [StateError]) = ([], [])
        for result in results {
            switch result {
            case .success(let value): values.append(value)
            case .failure(let error): errors.append(error)
            }
        }
        return (values, errors.count, errors.first { !$0.isTransient } ?? errors.first)
    }

    /// Calls `Scripts/control.lua`.
    func control(_ action: String, _ arguments: RedisArgument..., in partition: Partition) async throws(StateError) -> Int {
        try await persistently { try await run(cluster.scripts.control, in: partition, [.string(action)] + arguments).asInteger() }
    }
}
