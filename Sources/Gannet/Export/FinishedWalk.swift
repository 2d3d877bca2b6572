internal import ClusterState
internal import RedisClient

/// Goes through the URLs of a batch whose jobs have ended, in that order, in memory that does not grow with it.
struct FinishedWalk: Sendable {
    let queue: FetchQueue
    let batch: Int
    /// How many ends are gone through. What ends later is for the next time.
    let count: Int

    private static let chunk = 1024

    /// The ends from one place on, at least one; throws where they are gone, and where the task was cancelled.
    func ids(from first: Int) async throws(OutputFailure) -> [URLID] {
        try Self.checkCancellation()
        let last = min(first + Self.chunk, count) - 1
        let ids = try await OutputFailure.wrapping { () throws(StateError) in
            try await queue.finished(ofBatch: batch, from: first, through: last)
        }
        guard ids.count == last - first + 1 else { throw OutputFailure(ClusterError(StateError.unknownBatch)) }
        return ids
    }

    /// The pages of URLs, in their order.
    func pages(_ ids: [URLID]) async throws(OutputFailure) -> [Page?] {
        try await OutputFailure.wrapping { () throws(StateError) in try await queue.pages(ids) }
    }

    /// Runs `body` on those URLs that are wanted: so many in each call, and so many calls at a time.
    /// - Parameter isWanted: Asked in the URLs' order.
    func forEach(
        _ most: Int, width: Int, where isWanted: @Sendable (URLID) -> Bool,
        _ body: @escaping @Sendable ([URLID]) async throws(OutputFailure) -> Void
    ) async throws(OutputFailure) {
        let result = await withTaskGroup(of: Result<Void, OutputFailure>.self) { group in
            do throws(OutputFailure) {
                var (place, running) = (0, 0)
                while place < count {
                    let ids = try await ids(from: place)
                    place += ids.count
                    var wanted = ids.filter(isWanted)[...]
                    while !wanted.isEmpty {
                        let some = Array(wanted.prefix(most))
                        wanted = wanted.dropFirst(most)
                        if running == width {
                            try await group.next()?.get()
                            running -= 1
                        }
                        group.addTask { await Self.result { () async throws(OutputFailure) in try await body(some) } }
                        running += 1
                    }
                }
                while let result = await group.next() { try result.get() }
                return Result<Void, OutputFailure>.success(())
            } catch {
                group.cancelAll()
                return .failure(error)
            }
        }
        try result.get()
    }

    static func checkCancellation() throws(OutputFailure) {
        if Task.isCancelled { throw OutputFailure(ClusterError(RedisError(.cancelled))) }
    }

    private static func result(_ body: () async throws(OutputFailure) -> Void) async -> Result<Void, OutputFailure> {
        do throws(OutputFailure) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
