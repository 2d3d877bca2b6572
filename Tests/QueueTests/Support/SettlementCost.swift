import GannetRedisClient
import GannetTestKit

@testable import GannetQueue

/// The cost to Redis of settling a URL that many jobs wait for.
struct SettlementCost: Sendable {
    /// How many commands the script ran.
    let commands: Int

    init(followers: Int) async throws {
        let server = try await RedisServer.start()
        let fixture = try await QueueFixture.connect(path: server.socketPath)
        let batch = try await fixture.fill([0, 0])
        guard let job = try await fixture.claim(1, lease: QueueFixture.neverExtended).jobs.first else { throw KitError("nothing to claim") }
        // The second job follows the first, and so do a million like it.
        guard try await fixture.claimAll(1).isEmpty else { throw KitError("another job was handed out") }
        try await Self.repeatFollower(fixture, batch, times: followers - 1)
        guard try await fixture.queue.counts().parked == followers else { throw KitError("some jobs do not follow") }
        commands = try await server.statistics {
            guard try await fixture.settle(job, QueueFixture.fetched(job.url)) == .settled else { throw KitError("the lock was lost") }
        }.callsInScripts
        await fixture.redis.close()
        try await server.stop()
    }

    private static func repeatFollower(_ fixture: QueueFixture, _ batch: Int, times: Int) async throws {
        let script = """
            local one = redis.call('LINDEX', KEYS[1], 0)
            for _ = 1, ARGV[1] do redis.call('RPUSH', KEYS[1], one) end
            """
        let key = RedisArgument.bytes(Array(fixture.key(queue: "followers:").utf8) + QueueFixture.id(0).bytes)
        try await fixture.redis.send(RedisCommand("EVAL", .string(script), "1", key, .integer(times)))
        for (record, total) in [("queue", "enqueued"), ("batch:\(batch)", "total")] {
            for field in [total, "parked"] {
                try await fixture.send("HINCRBY", fixture.queueKey(record), .string(field), .integer(times))
            }
        }
    }
}
