internal import GannetBase
internal import GannetRedisClient

/// Overviews for people who watch a queue. They cost the same for ten jobs and ten million, and write nothing.
extension FetchQueue {
    /// The queue's depths, totals, workers and last minutes. The cost does not depend on the number of jobs. In a cluster a server may be
    /// away: the sums are those of the others then, and without the home partition there are no workers and no minutes.
    /// - Parameter limit: The most batches to read with them, the newest. There are none while a server is away.
    package func overview(batches limit: Int = 0) async throws(StateError) -> QueueOverview {
        try await persistently.withoutServers {
            let numbers = limit > 0 ? try await cluster.orGiveUp(cluster.home.keys.state) { try await newestBatches(limit) } : .success([])
            let (looks, partitions) = try await lookEverywhere(batches: (try? numbers.get()) ?? [])
            let indices = looks.keys.sorted()
            guard let first = indices.first, let home = looks[first] else { throw RedisError(.unavailable) }
            var (counts, failures, waits, oldest) = (home.counts, home.failures, home.waits, home.oldest)
            for part in indices.dropFirst().compactMap({ looks[$0] }) {
                counts.add(part.counts)
                failures.add(part.failures)
                waits.add(part.waits)
                // Partitions have clocks of their own.
                if let age = part.oldest.map({ part.now - $0 }) { oldest = min(oldest ?? home.now, home.now - age) }
            }
            waits.patience = WaitPatience.longest(of: home.workers)
            var overview = QueueOverview(
                now: home.now, counts: counts, failures: failures, oldestReady: oldest, samples: home.samples, workers: home.workers,
                others: partitions?.away.isEmpty == false ? [] : try await others(home.others), waits: waits,
                standings: try await standings(
                    of: Self.busiest(home.workers).filter { looks[cluster.partition(of: $0).index] != nil }, at: home.now))
            overview.partitions = partitions
            if overview.workers.contains(where: { $0.state == .held }) {
                overview.holding = try await BlobStore(cluster).holdingBatches()
            }
            if !overview.isPartial { overview.batches = Batch.sums(of: indices.compactMap { looks[$0]?.batches }) }
            return overview
        }
    }

    /// Other queues that are not empty, or have workers: those heard of last, and a few at most.
    private func others(_ names: [String]) async throws -> [OtherQueue] {
        var others: [OtherQueue] = []
        for name in names.filter({ $0 != self.name }).prefix(PartitionLook.mostOthers) {
            let other = FetchQueue(cluster, name, .once)
            // Whatever is wrong with another queue's keys, this one can be looked at.
            guard let open = try? await other.counts().open,
                let page = try? await cluster.connection.send(
                    RedisCommand("HSCAN", cluster.home.keys.queue(name), 0, "COUNT", .integer(PartitionLook.mostLookedAt))),
                let clock = try? await cluster.now()
            else { continue }
            let workers = try PartitionLook.workers(page.fields(2, of: "HSCAN")[1], now: clock).filter { $0.state != .silent }
                .count
            if open > 0 || workers > 0 { others.append(OtherQueue(name: name, open: max(0, open), workers: min(100, workers))) }
        }
        return others
    }

    /// Hosts whose requests are counted for an overview.
    private static let mostHosts = 64

    private static func busiest(_ workers: [WorkerStatus]) -> [String] {
        var sums: [String: Int] = [:]
        for host in workers.lazy.compactMap(\.record).flatMap(\.hosts) { sums[host.name, default: 0] += host.running }
        return sums.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(mostHosts).map(\.key)
    }

    /// How hosts stand. The same record decides whether another request may begin.
    func standings(of hosts: [String], at now: Int) async throws -> [String: HostStanding] {
        let commands = hosts.map { HostStanding.command($0, cluster.partition(of: $0).keys) }
        var standings: [String: HostStanding] = [:]
        for (host, reply) in zip(hosts, await cluster.connection.pipeline(commands)) {
            standings[host] = try HostStanding(reply.get(), of: host, at: now)
        }
        return standings
    }

    /// A partition's part of the queue.
    /// - Parameters:
    ///   - isForOnlookers: Also reads what workers have said, which workers need not know.
    ///   - batches: Numbers of batches. They are read right before the queue's counts: the jobs that end in between have ended in the counts
    ///     alone.
    func look(at partition: Partition, isForOnlookers: Bool = true, batches: [Int] = []) async throws -> PartitionLook {
        let keys = partition.keys
        let name = try checkedName()
        let records = batches.map { RedisCommand([.string("HMGET"), keys.batch($0, of: name)] + Batch.fields) }
        var commands = records + cluster.clock(of: partition)
        commands += [
            RedisCommand([.string("HMGET"), keys.queue(name)] + QueueCounts.fields), RedisCommand("ZCARD", keys.dead(of: name)),
        ]
        for priority in Priority.allCases {
            commands += [
                RedisCommand("LRANGE", keys.ready(priority, of: name), 0, .integer(PartitionLook.mostHeads - 1))
            ]
            commands += PartitionLook.timerCommands(keys.timers(priority, of: name))
        }
        if isForOnlookers { commands += [RedisCommand("HGETALL", keys.queue(name)), RedisCommand("HGETALL", keys.state)] }
        let replies = try await cluster.connection.pipeline(commands).map { try $0.get() }
        var look = try keys.naming(name) { try PartitionLook(Array(replies.dropFirst(records.count))) }
        look.batches = try zip(batches, replies).map { try Batch(number: $0, $1, now: look.now) }
        let heads = try await cluster.connection.pipeline(look.asideCommands(keys, of: name)).map { try $0.get() }
        try look.note(heads, partBytes: cluster.scripts.partBytes)
        let lasts = look.standingCommands(keys)
        if !lasts.isEmpty {
            let standings = await cluster.connection.pipeline(lasts)
            try look.note(standings: standings.map { try $0.get() })
        }
        return look
    }
}
