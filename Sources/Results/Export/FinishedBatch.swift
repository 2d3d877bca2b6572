package import GannetQueue
internal import GannetRedisClient

/// A batch as it was at one moment, and its jobs that had ended by then: one partition after the other, each in the order in which its jobs
/// ended.
package struct FinishedBatch: Sendable {
    package let batch: Batch
    /// The number of ended jobs in each partition. A URL may have several.
    private let counts: [Int]
    var count: Int { counts.reduce(0, +) }
    /// Ends that count no more, because their jobs were tried again, as far as this was known at that moment.
    private let again: Int
    /// The number of ended jobs.
    package var jobs: Int { count - again }
    private let queue: FetchQueue

    private static let chunk = 1024

    /// `nil` for a batch that is not known.
    package init?(named name: String, in queue: FetchQueue) async throws(StateError) {
        // The batch is read first. If it says that all jobs have ended, all of them are in the list that is read next.
        guard let batch = try await queue.batch(named: name) else { return nil }
        self.batch = batch
        self.queue = queue
        counts = try await queue.finishedCounts(ofBatch: batch.number)
        again = try await queue.endsAgain(ofBatch: batch.number).reduce(0, +)
    }

    /// Some of a partition's ended jobs.
    struct Part: Sendable {
        let partition: Partition
        let jobs: [EndedJob]

        var ids: [URLID] { jobs.map(\.id) }
    }

    /// Hands over all ended jobs, about a thousand at a time, with the places of the ends that count. A job that was tried again has earlier ends,
    /// which count no more. Throws if the URLs are no longer known, or if the task is cancelled.
    func forEachPart(_ body: (Part, _ counted: [(place: Int, job: EndedJob)]) async throws -> Void) async throws {
        var passed: [URLID: Int] = [:]
        var place = 0
        for (partition, count) in zip(queue.cluster.partitions, counts) {
            for first in stride(from: 0, to: count, by: Self.chunk) {
                try Self.checkCancellation()
                let last = min(first + Self.chunk, count) - 1
                let part = Part(
                    partition: partition, jobs: try await queue.finished(ofBatch: batch.number, in: partition, from: first, through: last))
                guard part.jobs.count == last - first + 1 else { throw StateError.unknownBatch }
                let again = try await queue.endsAgain(of: part.ids, ofBatch: batch.number, in: partition)
                var counted: [(place: Int, job: EndedJob)] = []
                for (index, job) in part.jobs.enumerated() {
                    if let most = again[job.id], passed[job.id, default: 0] < most {
                        passed[job.id, default: 0] += 1
                    } else {
                        counted.append((place + index, job))
                    }
                }
                place += part.jobs.count
                try await body(part, counted)
            }
        }
    }

    /// The outcomes of URLs, in their order.
    func outcomes(_ part: Part) async throws -> [URLOutcome?] { try await queue.outcomes(part.ids, in: part.partition) }

    /// Calls `body` with the wanted URLs, in constant memory.
    /// - Parameters:
    ///   - most: The most URLs of one call.
    ///   - width: The number of calls at a time.
    ///   - isWanted: Called for each URL, in order.
    func forEach(
        _ most: Int, width: Int, where isWanted: @Sendable (URLID) -> Bool,
        _ body: @escaping @Sendable (Part) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var running = 0
            try await forEachPart { part, counted in
                var wanted = counted.map(\.job).filter { isWanted($0.id) }[...]
                while !wanted.isEmpty {
                    let some = Part(partition: part.partition, jobs: Array(wanted.prefix(most)))
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

extension FinishedBatch {
    /// Whether these are all jobs of the batch still: none waits, and none was tried again since.
    package func isAll() async throws -> Bool {
        guard batch.isComplete, let now = try await FinishedBatch(named: batch.name, in: queue) else { return batch.isComplete }
        return now.batch.isComplete && now.count == count
    }

    /// Calls a function for the bodies of the ended jobs, and for what was kept beside them, some at a time.
    package func forEachBody(_ body: ([(digest: [UInt8], size: Int)]) async throws -> Void) async throws {
        try await forEachPart { part, _ in
            var bodies: [(digest: [UInt8], size: Int)] = []
            for content in try await outcomes(part).compactMap({ $0?.content }) {
                if let digest = content.digest, content.size > 0 { bodies.append((digest, content.size)) }
                if let exchanges = content.exchanges { bodies.append((exchanges.digest, exchanges.size)) }
            }
            if !bodies.isEmpty { try await body(bodies) }
        }
    }
}
