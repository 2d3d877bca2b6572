internal import GannetBase
internal import GannetRedisClient

/// Fields of a queue's hash about its workers. See ``FetchQueue/report(_:_:_:)``.
enum WorkerField {
    static let records = "worker:", drains = "drain:"

    static func record(_ worker: String) -> String { records + worker }
    static func drain(_ worker: String) -> String { drains + worker }
}

extension FetchQueue {
    /// The workers that sent a heartbeat lately, the latest heartbeat first.
    package func workers() async throws(StateError) -> [WorkerStatus] {
        try await persistently {
            let command = RedisCommand("HGETALL", cluster.home.keys.queue(try checkedName()))
            let (now, answers) = try await cluster.answers(to: [command], in: cluster.home)
            return try PartitionLook.workers(answers[0], now: now)
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
                let looks = workers.map { RedisCommand("HEXISTS", key, .string(WorkerField.record($0))) }
                let (now, isThere) = try await cluster.answers(to: looks, in: cluster.home)
                let unknown = try zip(workers, isThere).filter { try $1.asInteger() == 0 }.map(\.0)
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

extension ClusterState {
    /// The queues that are in use, by name: those with jobs, batches or workers, and those that are kept for their totals.
    package func queues() async throws(StateError) -> [(name: String, overview: QueueOverview)] {
        var names: Set<String> = []
        for partition in partitions { names.formUnion(try await queuesInUse(in: partition)) }
        names.formUnion(try await queuesWithWorkers())
        var listed: [(name: String, overview: QueueOverview)] = []
        for name in names.sorted() {
            let overview = try await queue(name).overview()
            if !overview.isUnknown { listed.append((name, overview)) }
        }
        return listed
    }

    /// Each queue that is used has a field among the hosts. These are many only while requests are in flight at as many.
    private func queuesInUse(in partition: Partition) async throws(StateError) -> [String] {
        try await StateError.mapping {
            var names: [String] = []
            try await scan("HSCAN", partition.keys.hosts, matching: "\\?*", count: 1000) { items in
                for (field, _) in items.pairs { names.append(String(try field.asString().dropFirst())) }
            }
            return names
        }
    }

    /// The queues that had workers lately, by name.
    package func queuesWithWorkers() async throws(StateError) -> [String] {
        try await StateError.mapping {
            let (now, answers) = try await answers(to: [RedisCommand("HGETALL", home.keys.state)], in: home)
            return try PartitionLook.queues(answers[0], now: now).sorted()
        }
    }
}
