internal import RedisClient

/// What onlookers are told.
extension QueueState {
    /// Workers that an overview tells of at most.
    private static let mostWorkers = 1000

    /// A worker that has been silent for longer is not told of any more.
    private static let longestSilence = Duration.seconds(600)

    /// Says that a worker lives, and what it is doing. To be repeated every few seconds, and by no more than a thousand workers of a queue.
    package func beat(_ worker: String, _ record: WorkerRecord) async throws(StateError) -> QueueProgress {
        try await heartbeat(worker, record.bytes)
    }

    /// Says that a worker is no more.
    package func leave(_ worker: String) async throws(StateError) { _ = try await heartbeat(worker, []) }

    private func heartbeat(_ worker: String, _ record: [UInt8]) async throws(StateError) -> QueueProgress {
        let reply = try await run(ClusterScripts.heartbeat, [.string(worker), .bytes(record)])
        return try await StateError.wrapping { () throws(RedisError) in
            let fields = try reply.asArray()
            guard fields.count == 5 else { throw RedisError(.unexpectedReply, "heartbeat in another form than expected") }
            return QueueProgress(
                accepted: try fields[0].asInteger(), ended: try fields[1].asInteger(), delayed: try fields[2].asInteger(),
                held: HeldJobs(jobs: try fields[3].asInteger(), hosts: try fields[4].asInteger()))
        }
    }

    /// Depths, totals, workers and the last minutes, at the same cost for ten jobs and ten million.
    package func overview() async throws(StateError) -> QueueOverview {
        let reply = try await run(
            ClusterScripts.overview,
            [.integer(Self.mostWorkers), .integer(Self.longestSilence.wholeMilliseconds)] + Self.countedFields)
        let (fields, workers) = try await StateError.wrapping { () throws(RedisError) in
            let fields = try reply.asArray()
            guard fields.count == 9 else { throw RedisError(.unexpectedReply, "overview in another form than expected") }
            return (fields, try Self.workers(try fields[5].asArray()))
        }
        let running = try await running(at: Self.busiest(workers))
        return try await StateError.wrapping { () throws(RedisError) in
            let counts = try QueueCounts(try fields[1].asArray(), dead: try fields[2].asInteger())
            let oldest = try fields[3].asInteger()
            var history: [QueueSample] = []
            for sample in try fields[4].asArray() { if let sample = QueueSample(try sample.asBytes()) { history.append(sample) } }
            return QueueOverview(
                now: try fields[0].asInteger(), counts: counts, oldestReady: oldest < 0 || counts.ready <= 0 ? nil : oldest,
                history: history, workers: workers, others: try Self.others(try fields[6].asArray()),
                held: HeldJobs(jobs: try fields[7].asInteger(), hosts: try fields[8].asInteger()), running: running)
        }
    }

    /// Hosts whose requests are counted for an overview.
    private static let mostHosts = 64

    private static func busiest(_ workers: [WorkerBeat]) -> [String] {
        var sums: [String: Int] = [:]
        for host in workers.lazy.compactMap(\.record).flatMap(\.hosts) { sums[host.host, default: 0] += host.running }
        return sums.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(mostHosts).map(\.key)
    }

    /// How many requests are in flight at hosts, by what decides whether another may begin.
    private func running(at hosts: [String]) async throws(StateError) -> [String: Int] {
        if hosts.isEmpty { return [:] }
        let reply = try await cluster.send(RedisCommand([.string("HMGET"), cluster.keys.hosts] + hosts.map { .string($0) }))
        return try await StateError.wrapping { () throws(RedisError) in
            var running: [String: Int] = [:]
            for (host, state) in zip(hosts, try reply.asArray()) {
                // Nothing is remembered of a host without requests.
                var reader = ByteReader(try state.asOptionalBytes() ?? [0, 0])
                running[host] = reader.number(2)
            }
            return running
        }
    }

    private static func others(_ fields: [RedisReply]) throws(RedisError) -> [OtherQueue] {
        guard fields.count.isMultiple(of: 3) else { throw RedisError(.unexpectedReply, "queues in another form than expected") }
        var queues: [OtherQueue] = []
        for index in stride(from: 0, to: fields.count, by: 3) {
            queues.append(
                OtherQueue(
                    name: try fields[index].asString(), open: try fields[index + 1].asInteger(),
                    workers: try fields[index + 2].asInteger()))
        }
        return queues
    }

    private static func workers(_ fields: [RedisReply]) throws(RedisError) -> [WorkerBeat] {
        guard fields.count.isMultiple(of: 3) else { throw RedisError(.unexpectedReply, "workers in another form than expected") }
        var workers: [WorkerBeat] = []
        for index in stride(from: 0, to: fields.count, by: 3) {
            workers.append(
                WorkerBeat(
                    worker: try fields[index].asString(), time: try fields[index + 1].asInteger(),
                    record: WorkerRecord(try fields[index + 2].asBytes())))
        }
        return workers
    }
}
