package import ClusterState
internal import RedisClient

/// A batch as it was at one moment, and its jobs that had ended by then, in the order in which they ended.
package struct FinishedBatch: Sendable {
    package let batch: Batch
    /// The number of ended jobs. A URL may have several.
    package let count: Int
    private let queue: FetchQueue

    private static let chunk = 1024

    /// `nil` for a batch that is not known.
    package init?(named name: String, in queue: FetchQueue) async throws(StateError) {
        // The batch is read first. If it says that all jobs have ended, all of them are in the list that is read next.
        guard let batch = try await queue.batch(named: name) else { return nil }
        self.batch = batch
        self.queue = queue
        count = try await queue.finishedCount(ofBatch: batch.number)
    }

    /// The URLs of ended jobs from one place on, at least one. Throws if the URLs are no longer known, or if the task is cancelled.
    func ids(from first: Int) async throws -> [URLID] {
        try Self.checkCancellation()
        let last = min(first + Self.chunk, count) - 1
        let ids = try await queue.finished(ofBatch: batch.number, from: first, through: last)
        guard ids.count == last - first + 1 else { throw StateError.unknownBatch }
        return ids
    }

    /// The outcomes of URLs, in their order.
    func outcomes(_ ids: [URLID]) async throws -> [URLOutcome?] { try await queue.outcomes(ids) }

    /// Calls `body` with the wanted URLs, in constant memory.
    /// - Parameters:
    ///   - most: The most URLs of one call.
    ///   - width: The number of calls at a time.
    ///   - isWanted: Called for each URL, in order.
    func forEach(
        _ most: Int, width: Int, where isWanted: @Sendable (URLID) -> Bool,
        _ body: @escaping @Sendable ([URLID]) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var (place, running) = (0, 0)
            while place < count {
                let ids = try await ids(from: place)
                place += ids.count
                var wanted = ids.filter(isWanted)[...]
                while !wanted.isEmpty {
                    let some = Array(wanted.prefix(most))
                    wanted = wanted.dropFirst(most)
                    if running == width {
                        try await group.next()
                        running -= 1
                    }
                    group.addTask { try await body(some) }
                    running += 1
                }
            }
            try await group.waitForAll()
        }
    }

    static func checkCancellation() throws {
        if Task.isCancelled { throw StateError.redis(RedisError(.cancelled)) }
    }
}
