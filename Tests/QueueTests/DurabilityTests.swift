import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// The answers to a producer when servers fail over, and the jobs that its second run adds.
@Suite struct DurabilityTests {
    private static let hosts = 20

    private func rows(_ numbers: ClosedRange<Int>) throws -> [FetchQueue.NumberedJob] {
        try numbers.map { (entry: try QueueFixture.entry($0, hosts: Self.hosts), row: $0) }
    }

    /// The keys of a partition, as a replica has them that lags behind.
    private struct Replica {
        let keys: [(key: RedisArgument, dump: [UInt8])]

        init(_ partition: Partition, _ fixture: QueueFixture) async throws {
            var keys: [(RedisArgument, [UInt8])] = []
            for key in try await Self.all(partition, fixture) {
                keys.append((key, try await fixture.redis.send(RedisCommand("DUMP", key)).asBytes()))
            }
            self.keys = keys
        }

        /// The replica has become the primary.
        func takeOver(_ partition: Partition, _ fixture: QueueFixture) async throws {
            for key in try await Self.all(partition, fixture) { try await fixture.redis.send(RedisCommand("DEL", key)) }
            for (key, dump) in keys { try await fixture.redis.send(RedisCommand("RESTORE", key, 0, .bytes(dump))) }
        }

        private static func all(_ partition: Partition, _ fixture: QueueFixture) async throws -> [RedisArgument] {
            try await fixture.redis.send(RedisCommand("KEYS", .string(partition.keys.tag + "*"))).asArray().map { .bytes(try $0.asBytes()) }
        }
    }

    @Test(arguments: [0, 1, 2])
    func `a partition that was set back is filled again by the same producer, and no other partition`(index: Int) async throws {
        try await QueueFixture.with(partitions: 3) { fixture in
            let partition = fixture.cluster.partitions[index]
            var progress = try await fixture.queue.begin(batch: "b")
            _ = try await fixture.queue.enqueue(rows(1...100), to: 100, of: &progress)
            let replica = try await Replica(partition, fixture)
            _ = try await fixture.queue.enqueue(rows(101...200), to: 200, of: &progress)
            try await replica.takeOver(partition, fixture)
            #expect(try await fixture.queue.counts().enqueued < 200)
            let error = await #expect(throws: StateError.self) {
                try await fixture.queue.enqueue(rows(201...300), to: 300, of: &progress)
            }
            guard case .batchLost? = error else { throw KitError("the producer hears of \(error as Any)") }

            var again = try await fixture.queue.begin(batch: "b")
            #expect(again.number == progress.number && again.resumesBehind <= 100)
            _ = try await fixture.queue.enqueue(rows(1...300), to: 300, of: &again, closing: true)
            #expect(again.total == 300)
            #expect(try await fixture.queue.counts().enqueued == 300)
            let fetched = try await fixture.drain()
            #expect(fetched.count == 300 && Set(fetched).count == 300)
            #expect(try await fixture.queue.batches([again.number]).first?.isComplete == true)
        }
    }

    @Test func `a batch that the home partition has lost keeps its number, and another one gets a new number`() async throws {
        try await QueueFixture.with(partitions: 3) { fixture in
            let replica = try await Replica(fixture.cluster.home, fixture)
            var progress = try await fixture.queue.begin(batch: "b")
            _ = try await fixture.queue.enqueue(rows(1...100), to: 100, of: &progress)
            try await replica.takeOver(fixture.cluster.home, fixture)
            let other = try await fixture.queue.begin(batch: "other")
            #expect(other.number != progress.number && other.offsets == [0, 0, 0])
            var again = try await fixture.queue.begin(batch: "b")
            #expect(again.number == progress.number && again.offsets[0] == 0)
            _ = try await fixture.queue.enqueue(rows(1...100), to: 100, of: &again, closing: true)
            #expect(again.total == 100)
            let fetched = try await fixture.drain()
            #expect(fetched.count == 100 && Set(fetched).count == 100)
        }
    }

    @Test func `a replica confirms accepted jobs, and a silent replica does not`() async throws {
        let sentinels = try await RedisSentinels.start(downAfter: .seconds(60))
        let fixture = try await QueueFixture.connect(path: sentinels.primary.socketPath)
        var progress = try await fixture.queue.begin(batch: "b")
        _ = try await fixture.queue.enqueue(rows(1...10), to: 10, of: &progress)
        try await fixture.queue.confirmReplicas(of: progress, within: .seconds(30))
        #expect(try await sentinels.replica.command("LLEN", fixture.key(queue: "ready:normal")) != .integer(0))

        sentinels.replica.pause()
        _ = try await fixture.queue.enqueue(rows(11...20), to: 20, of: &progress, closing: true)
        await #expect(throws: StateError.notReplicated(.milliseconds(10), server: nil)) {
            try await fixture.queue.confirmReplicas(of: progress, within: .milliseconds(10))
        }
        sentinels.replica.resume()
        var again = try await fixture.queue.begin(batch: "b")
        _ = try await fixture.queue.enqueue(rows(1...20), to: 20, of: &again, closing: true)
        try await fixture.queue.confirmReplicas(of: again, within: .seconds(30))
        #expect(try await fixture.queue.counts().enqueued == 20)
        await fixture.redis.close()
    }

    @Test func `a server that took over without the last chunk confirms nothing`() async throws {
        try await QueueFixture.with { fixture in
            var progress = try await fixture.queue.begin(batch: "b")
            _ = try await fixture.queue.enqueue(rows(1...10), to: 10, of: &progress)
            let replica = try await Replica(fixture.cluster.home, fixture)
            _ = try await fixture.queue.enqueue(rows(11...20), to: 20, of: &progress, closing: true)
            try await replica.takeOver(fixture.cluster.home, fixture)
            await #expect(throws: StateError.batchLost(accepted: 20)) {
                try await fixture.queue.confirmReplicas(of: progress, within: .seconds(30))
            }
        }
    }

    @Test func `a cluster's replicas confirm the accepted jobs of all partitions`() async throws {
        let cluster = try await RedisCluster.start()
        let redis = try await RedisConnection.connect(RedisConfiguration(url: cluster.url))
        let state = try await ClusterState.open(redis, namespace: "n", partitions: nil)
        #expect(state.partitions.count == 16 && state.isSpread)
        let fixture = QueueFixture(redis: redis, cluster: state, queue: state.queue("q"), namespace: "n")
        var progress = try await fixture.queue.begin(batch: "b")
        _ = try await fixture.queue.enqueue(rows(1...200), to: 200, of: &progress, closing: true)
        try await fixture.queue.confirmReplicas(of: progress, within: .seconds(30))
        let owner = try #require(redis.primary(of: state.home.keys.state)?.address.description)
        #expect(
            StateError.notReplicated(.seconds(5), server: owner).description.contains(
                "no replica of \(owner) has confirmed them within 5 seconds"))
        // Each primary has as many partitions as another, but for one.
        let owners = Dictionary(grouping: state.partitions) { redis.primary(of: $0.keys.state)?.address }
        #expect(owners.count == 3 && owners.values.allSatisfy { (5...6).contains($0.count) })
        #expect(try await fixture.drain().count == 200)
        await redis.close()
    }
}
