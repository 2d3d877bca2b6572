internal import RedisClient

/// A queue of URLs to fetch.
///
/// The queue hands a job to one worker at a time, on a lease, and no URL to two workers at once. A lease that is neither renewed nor ended
/// in time makes its job claimable again, so that no job is lost with its worker.
///
/// Calls wait for a Redis that is away. Only claims, renewals and heartbeats do not wait: the worker repeats these itself.
package struct FetchQueue: Sendable {
    package let cluster: ClusterState
    package let name: String
    let persistently: Persistence

    init(_ cluster: ClusterState, _ name: String, _ persistence: Persistence) {
        self.cluster = cluster
        self.name = name
        persistently = persistence
    }

    package static let longestName = 128

    func run(_ script: RedisScript, _ arguments: [RedisArgument]) async throws -> RedisReply {
        // A colon separates the parts of a key. A name with a colon could give two queues the same keys.
        let isForbidden = { (byte: UInt8) in byte < 0x20 || byte == 0x7f || byte == UInt8(ascii: ":") }
        guard (1...Self.longestName).contains(name.utf8.count), !name.utf8.contains(where: isForbidden) else {
            throw StateError.invalid("A queue's name has 1 to \(Self.longestName) bytes, no colon and no control characters.")
        }
        return try await cluster.run(script, queue: name, arguments)
    }

    /// The queue's depths and totals. The cost does not depend on the number of jobs.
    package func counts() async throws(StateError) -> QueueCounts {
        try await persistently {
            let command = RedisCommand([.string("HMGET"), cluster.keys.count(of: name)] + QueueCounts.fields)
            let replies = await cluster.connection.pipeline([command, RedisCommand("ZCARD", cluster.keys.dead(of: name))])
            return try QueueCounts(try replies[0].get(), dead: try replies[1].get().asInteger())
        }
    }

    /// Stops workers from claiming jobs. Workers finish the jobs that they hold. Returns whether the queue was paused before.
    @discardableResult
    package func pause() async throws(StateError) -> Bool { try await setPaused(true) }

    /// Lets workers claim jobs again. Returns whether the queue was paused.
    @discardableResult
    package func resume() async throws(StateError) -> Bool { try await setPaused(false) }

    private func setPaused(_ isPaused: Bool) async throws(StateError) -> Bool {
        try await persistently { try await run(ClusterScripts.pause, [.integer(isPaused ? 1 : 0)]).asInteger() == 1 }
    }

    /// Removes the queue and everything in it.
    package func clear() async throws(StateError) {
        try await persistently {
            while try await run(ClusterScripts.clear, []).asInteger() == 1 {}
        }
    }

    /// Removes everything in the queue, also its batches and totals. A paused queue stays paused.
    package func purge() async throws(StateError) {
        let wasPaused = try await counts().isPaused
        try await clear()
        if wasPaused { try await pause() }
    }
}
