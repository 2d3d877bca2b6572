import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// A partition pauses while its slot moves to another server of the cluster, and loses nothing by that.
@Suite struct MovingSlotTests {
    /// A digest of the whole data of each server.
    private static func digests(_ nodes: RedisServer...) async throws -> [String] {
        var digests: [String] = []
        for node in nodes { digests.append(try await node.ask("DEBUG", "DIGEST").text ?? "") }
        return digests
    }

    @Test(arguments: [1, 4, 1000]) func `a script that meets a slot on its way changes nothing, and works once the slot is there`(
        moved: Int
    ) async throws {
        let cluster = try await RedisCluster.start(replicas: 0) { $0.arguments = ["--enable-debug-command", "yes"] }
        func connected(_ timeout: Duration?) async throws -> QueueFixture {
            var configuration = try RedisConfiguration(url: cluster.url)
            if let timeout { configuration.commandTimeout = timeout }
            let redis = try await RedisConnection.connect(configuration)
            let state = try await ClusterState.open(redis, namespace: "m", partitions: 1)
            return QueueFixture(redis: redis, cluster: state, queue: state.queue("q"), namespace: "m")
        }
        let fixture = try await connected(nil)
        // Its calls fail, each when its time is over.
        let hasty = try await connected(.milliseconds(150))
        try await fixture.fill(0..<40, hosts: 4)
        let held = try await fixture.claim(8).jobs
        #expect(held.count == 8)
        _ = try await fixture.settle(held[0], QueueFixture.fetched(held[0].url))

        let slot = try await cluster.slot(of: "{m}")
        let source = try await cluster.owner(of: slot)
        let target = try #require(cluster.nodes.first { $0 !== source })
        try await cluster.beginMoving(slot, from: source, to: target)
        try await cluster.moveKeys(moved, of: slot, from: source, to: target)
        let before = try await Self.digests(source, target)
        let calls: [(String, () async throws -> Void)] = [
            ("exchange", { _ = try await hasty.settle(held[1], QueueFixture.fetched(held[1].url)) }),
            ("enqueue", { try await hasty.fill(40..<50, batch: "b") }),
            (
                "acquire",
                {
                    let request = AcquireRequest(
                        id: QueueFixture.id(99), host: "h0", incarnation: Incarnation(7), nonce: 7, lease: QueueFixture.lease)
                    _ = try await hasty.cluster.acquire(request)
                }
            ),
            ("control", { _ = try await hasty.queue.cancel(batch: 1) }), ("commit", { try await hasty.queue.pause() }),
        ]
        for (name, call) in calls {
            let error = await #expect(throws: StateError.self, "\(name)") { try await call() }
            #expect(error?.isTransient == true, "\(name): \(error as Any)")
            #expect(try await Self.digests(source, target) == before, "\(name)")
        }
        while try await cluster.moveKeys(100, of: slot, from: source, to: target) > 0 {}
        try await cluster.endMoving(slot, to: target)

        try await fixture.expectSound("the slot has moved")
        // A lost exchange leaves a gap in the numbers, which is executed.
        for job in held.dropFirst() { #expect(try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled) }
        #expect(try await fixture.drain().count == 32)
        #expect(try await fixture.queue.counts().done == 40)
        try await fixture.expectSound("all jobs have ended")
        for one in [fixture, hasty] { await one.redis.close() }
    }

    @Test func `partitions whose slots no server has are named where the cluster is told to be the cause`() async throws {
        let cluster = try await RedisCluster.start(replicas: 0)
        let configuration = try RedisConfiguration(url: cluster.url)
        let first = try await RedisConnection.connect(configuration)
        let partitions = try await ClusterState.open(first, namespace: "m", partitions: 4).checked().partitions
        await first.close()
        for lost in [1, 3] {
            for node in cluster.nodes { try await node.ask("CLUSTER", "DELSLOTS", "\(HashSlot(of: partitions[lost].keys.state).number)") }
        }
        let redis = try await RedisConnection.connect(configuration)
        let watch = ServerWatch(connection: redis, partitions: partitions)
        #expect(watch.words(about: RedisError(.clusterDown, "Hash slot not served")) == "it has partitions 1 and 3 of 4")
        #expect(watch.words(about: RedisError(.unreachable, "Connection refused")) == nil)
        await redis.close()
    }

    @Test func `partitions of a new namespace are spread evenly, whatever its name and their number`() {
        for name in ["gannet", "a", "crawl-7"] {
            for count in [1, 2, 3, 16, 64] {
                let tags = SpreadTags.of(name, count: count)
                #expect(tags.count == count && Set(tags).count == count && tags[0] == "{\(name)}")
                #expect(tags.allSatisfy { $0.hasPrefix("{\(name)") })
                #expect(Set(tags.map { HashSlot(of: $0.utf8).number * count / HashSlot.count }).count == count, "\(name) \(count)")
                // The tags are a part of the format: they never change.
                #expect(tags == SpreadTags.of(name, count: count))
            }
        }
        #expect(SpreadTags.of("gannet", count: 4) == ["{gannet}", "{gannet:1}", "{gannet:2.1}", "{gannet:3}"])
    }
}
