import GannetTestKit
import RedisClient

@testable import ClusterState

/// The cost to Redis of settling a URL that many jobs wait for.
struct SettlementCost: Sendable {
    /// How many commands the script ran, and how long it kept other callers waiting.
    let commands: Int
    let microseconds: Int

    init(followers: Int) async throws {
        let server = try await RedisServer.start()
        let fixture = try await QueueFixture.connect(path: server.socketPath)
        let entry = try QueueFixture.entry(0)
        let number = try await fixture.queue.begin(batch: "b").number
        let total = followers + 1
        for start in stride(from: 0, to: total, by: 1000) {
            let end = min(start + 1000, total)
            let entries = [JobEntry](repeating: entry, count: end - start)
            _ = try await fixture.queue.enqueue(entries, batch: number, from: start, to: end, closing: end == total)
        }
        guard let job = try await fixture.claim(1).jobs.first else { throw KitError("nothing to claim") }
        // The others follow it.
        guard try await fixture.claimAll(1).isEmpty else { throw KitError("another job was handed out") }
        // With this call the server learns the script before the measurement.
        _ = try await fixture.cluster.settle([Settlement(LockToken([1]), entry.id, .handedBack)], random: 0)
        let statistics = try await server.statistics {
            guard try await fixture.settle(job, QueueFixture.fetched(entry.url)) == .settled else { throw KitError("the lease was lost") }
        }
        (commands, microseconds) = (statistics.callsInScripts, statistics.scriptMicroseconds)
        await fixture.redis.close()
        try await server.stop()
    }
}
