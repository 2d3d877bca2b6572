internal import GannetBasics
internal import RedisClient

/// Heartbeats of workers, and overviews for people who watch a queue.
extension FetchQueue {
    /// How many workers an overview lists at most.
    private static let mostWorkers = 1000

    /// A worker that has been silent for longer is no longer listed.
    private static let longestSilence = Duration.seconds(600)

    /// Tells Redis that a worker is alive, and what the worker is doing. A worker repeats this every few seconds, and a queue remembers at
    /// most a thousand workers. A lost heartbeat is not repeated, because the next one follows.
    package func beat(_ worker: String, _ record: WorkerRecord) async throws(StateError) -> QueueProgress {
        try await heartbeat(worker, record.bytes)
    }

    /// Tells Redis that a worker has ended.
    package func leave(_ worker: String) async throws(StateError) { _ = try await heartbeat(worker, []) }

    private func heartbeat(_ worker: String, _ record: [UInt8]) async throws(StateError) -> QueueProgress {
        try await StateError.mapping {
            let reply = try await run(ClusterScripts.heartbeat, [.string(worker), .bytes(record)])
            let fields = try reply.fields(5, of: "heartbeat").map { try $0.asInteger() }
            return QueueProgress(
                accepted: fields[0], ended: fields[1], waits: QueueWaits(held: fields[3], hosts: fields[4], delayed: fields[2]))
        }
    }

    /// Runs a claim that takes no job, so that a check of a worker uses the same path through Redis. Like any claim, this one also takes
    /// back ended leases and takes on the followers of ended fetches.
    /// - Parameters:
    ///   - lease: The worker's lease.
    ///   - host: The worker's politeness towards hosts.
    package func tryClaiming(lease: Duration, host: HostRule) async throws(StateError) {
        // No job is ever claimed under this name.
        var request = ClaimRequest(0, lease: lease, nonce: Nonce(.random(in: .min ... .max)), worker: "watcher")
        request.host = host
        _ = try await claim(request)
    }

    /// The queue's depths, totals, workers and last minutes. The cost does not depend on the number of jobs.
    package func overview() async throws(StateError) -> QueueOverview {
        try await persistently {
            let reply = try await run(
                ClusterScripts.overview,
                [.integer(Self.mostWorkers), .integer(Self.longestSilence.wholeMilliseconds)] + QueueCounts.fields)
            let fields = try reply.fields(9, of: "overview")
            let workers = try Self.triples(fields[5], of: "workers").map {
                WorkerStatus(id: try $0[0].asString(), heard: try $0[1].asInteger(), record: WorkerRecord(try $0[2].asBytes()))
            }
            let counts = try QueueCounts(fields[1], dead: try fields[2].asInteger())
            let oldest = try fields[3].asInteger()
            return QueueOverview(
                now: try fields[0].asInteger(), counts: counts, oldestReady: oldest < 0 || counts.ready <= 0 ? nil : oldest,
                samples: try fields[4].asArray().compactMap { QueueSample(try $0.asBytes()) }, workers: workers,
                others: try Self.triples(fields[6], of: "queues").map {
                    OtherQueue(name: try $0[0].asString(), open: try $0[1].asInteger(), workers: try $0[2].asInteger())
                },
                waits: QueueWaits(held: try fields[7].asInteger(), hosts: try fields[8].asInteger(), delayed: counts.delayed),
                running: try await running(at: Self.busiest(workers)))
        }
    }

    /// Hosts whose requests are counted for an overview.
    private static let mostHosts = 64

    private static func busiest(_ workers: [WorkerStatus]) -> [String] {
        var sums: [String: Int] = [:]
        for host in workers.lazy.compactMap(\.record).flatMap(\.hosts) { sums[host.name, default: 0] += host.running }
        return sums.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(mostHosts).map(\.key)
    }

    /// How many requests are in flight at each host. The same count decides whether another request may begin.
    private func running(at hosts: [String]) async throws -> [String: Int] {
        if hosts.isEmpty { return [:] }
        let command = RedisCommand([.string("HMGET"), cluster.keys.hosts] + hosts.map { .string($0) })
        var running: [String: Int] = [:]
        for (host, state) in zip(hosts, try await cluster.connection.send(command).asArray()) {
            // Redis may have no record of a host without requests.
            var reader = ByteReader(try state.asOptionalBytes() ?? [0, 0])
            running[host] = reader.number(2)
        }
        return running
    }

    private static func triples(_ reply: RedisReply, of what: String) throws -> [[RedisReply]] {
        let fields = try reply.asArray()
        guard fields.count.isMultiple(of: 3) else { throw RedisError.form(of: what) }
        return stride(from: 0, to: fields.count, by: 3).map { Array(fields[$0..<$0 + 3]) }
    }
}
