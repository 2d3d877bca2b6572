import GannetRedisClient
import Testing

@testable import GannetQueue

/// The rules that the state keeps at any moment, read from the keys themselves.
extension QueueFixture {
    /// Everything that each partition has in Redis.
    func looks() async throws -> [StateLook] {
        var looks: [StateLook] = []
        for partition in cluster.partitions { looks.append(try await StateLook(redis, tag: partition.keys.tag)) }
        return looks
    }

    /// Expects that every rule holds that has to hold at any moment.
    func expectSound(_ comment: String = "", at location: SourceLocation = #_sourceLocation) async throws {
        let problems = try await looks().flatMap(\.problems)
        #expect(problems == [], "\(comment)", sourceLocation: location)
    }

    /// Expects that every job has ended, and that only outcomes and records are left.
    func expectEnded(_ comment: String = "", at location: SourceLocation = #_sourceLocation) async throws {
        let looks = try await looks()
        let problems = looks.flatMap(\.problems)
        #expect(problems == [], "\(comment)", sourceLocation: location)
        let counts = try await queue.counts()
        #expect(counts.isEmpty && counts.enqueued == counts.done + counts.failed + counts.cancelled, "\(comment)", sourceLocation: location)
        let kept =
            ["state", "schema", "outcome:", "hosts", "answered:", "leases", "holder:"]
            + ["queue", "batches", "batch:", "finished:", "dead", "idle"].map { "q:\(queue.name):\($0)" }
        let left = looks.flatMap(\.keys).filter { key in !kept.contains { key.hasPrefix($0) } }
        #expect(left == [], "\(comment)", sourceLocation: location)
    }

    /// Requests in flight, by host.
    func running() async throws -> [String: Int] {
        try await looks().reduce(into: [:]) { $0.merge($1.running) { $0 + $1 } }
    }
}
