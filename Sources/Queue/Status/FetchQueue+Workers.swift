internal import GannetBase
internal import GannetRedisClient

/// Fields of a queue's hash about its workers. See ``FetchQueue/report(_:_:_:)``.
enum WorkerField {
    static let records = "worker:", drains = "drain:"

    static func record(_ worker: String) -> String { records + worker }
    static func drain(_ worker: String) -> String { drains + worker }
}

/// The workers of a queue, for people who look after them.
package struct WorkerListing: Sendable, Equatable {
    package let queue: String
    /// Queue time, ms.
    package let now: Int
    /// The workers that sent a heartbeat lately, the latest heartbeat first.
    package let workers: [WorkerStatus]
}

extension FetchQueue {
    /// The workers that sent a heartbeat lately.
    package func workers() async throws(StateError) -> WorkerListing {
        try await persistently {
            let clock = cluster.clock(of: cluster.home)
            let replies = await cluster.connection.pipeline(clock + [RedisCommand("HGETALL", cluster.home.keys.queue(try checkedName()))])
            let now = try cluster.home.keys.naming { try ClusterState.now(replies) }
            return WorkerListing(queue: name, now: now, workers: try PartitionLook.workers(try replies[clock.count].get(), now: now))
        }
    }

    /// Asks workers to take no more jobs, to finish the jobs that they hold, and to end. A worker reads the wish with its next heartbeat.
    ///
    /// The wish stands beside the worker's record and goes with it, so a lost message cannot lose it.
    /// - Returns: The names that no worker has. These are not asked, and neither are the others then.
    package func drain(_ workers: [String]) async throws(StateError) -> [String] {
        try await persistently {
            let key = cluster.home.keys.queue(try checkedName())
            while true {
                let clock = cluster.clock(of: cluster.home)
                let looks = workers.map { RedisCommand("HEXISTS", key, .string(WorkerField.record($0))) }
                let replies = await cluster.connection.pipeline(clock + looks)
                let now = try cluster.home.keys.naming { try ClusterState.now(replies) }
                let unknown = try zip(workers, replies.dropFirst(clock.count)).filter { try $1.get().asInteger() == 0 }.map(\.0)
                if workers.isEmpty || !unknown.isEmpty { return unknown }
                var commit = Commit()
                for (worker, look) in zip(workers, looks) {
                    commit.check(Array("1".utf8), look)
                    commit.write("HSET", key, .string(WorkerField.drain(worker)), .bytes(QueueSample.bytes(of: [now])))
                }
                // A worker that has ended meanwhile is unknown at the next look.
                if try await commit.run(cluster, in: cluster.home, queue: name) { return [] }
            }
        }
    }
}

/// A queue among the others of its namespace.
package struct ListedQueue: Sendable, Equatable {
    package let name: String
    package let counts: QueueCounts
    /// Workers that are heard of.
    package let workers: Int
}

extension ClusterState {
    private static let fieldsInStep = 1000
    private static let mostSteps = 10_000

    /// The queues that are in use, by name: those with jobs, batches or workers, and those that are kept for their totals.
    package func queues() async throws(StateError) -> [ListedQueue] {
        var names: Set<String> = []
        for partition in partitions { names.formUnion(try await queuesInUse(in: partition)) }
        names.formUnion(try await queuesWithWorkers())
        var listed: [ListedQueue] = []
        for name in names.sorted() {
            let overview = try await queue(name).overview()
            if overview.isUnknown { continue }
            let workers = overview.workers.count { $0.state(at: overview.now) != .silent }
            listed.append(ListedQueue(name: name, counts: overview.counts, workers: workers))
        }
        return listed
    }

    /// Each queue that is used has a field among the hosts. These are many only while requests are in flight at as many.
    private func queuesInUse(in partition: Partition) async throws(StateError) -> [String] {
        try await StateError.mapping {
            var (names, cursor): ([String], String) = ([], "0")
            for _ in 0..<Self.mostSteps {
                let page = try await connection.send(
                    RedisCommand("HSCAN", partition.keys.hosts, .string(cursor), "MATCH", "\\?*", "COUNT", .integer(Self.fieldsInStep))
                ).fields(2, of: "HSCAN")
                let fields = try page[1].asArray()
                for index in stride(from: 0, to: fields.count - 1, by: 2) { names.append(String(try fields[index].asString().dropFirst())) }
                cursor = try page[0].asString()
                if cursor == "0" { break }
            }
            return names
        }
    }

    /// The queues that had workers lately, by name.
    package func queuesWithWorkers() async throws(StateError) -> [String] {
        try await StateError.mapping {
            let replies = await connection.pipeline(clock(of: home) + [RedisCommand("HGETALL", home.keys.state)])
            let now = try home.keys.naming { try Self.now(replies) }
            return try PartitionLook.queues(try replies[clock(of: home).count].get(), now: now).sorted()
        }
    }
}
