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
        /// Where the part begins among all ended jobs.
        let place: Int
        let jobs: [EndedJob]
        /// How many of the first ends of a URL count no more.
        var again: [URLID: Int] = [:]

        var ids: [URLID] { jobs.map(\.id) }
    }

    /// Passes over the ends that count no more. It has to see all parts in their order.
    struct Counting {
        private var passed: [URLID: Int] = [:]

        /// Whether this end of a URL counts.
        mutating func counts(_ id: URLID, in part: Part) -> Bool {
            guard let again = part.again[id], passed[id, default: 0] < again else { return true }
            passed[id, default: 0] += 1
            return false
        }
    }

    /// The URLs of ended jobs from one place on, at least one, all of one partition. Throws if the URLs are no longer known, or if the task is
    /// cancelled.
    func part(from place: Int) async throws -> Part {
        try Self.checkCancellation()
        var (first, index) = (place, 0)
        while first >= counts[index] {
            first -= counts[index]
            index += 1
        }
        let last = min(first + Self.chunk, counts[index]) - 1
        let partition = queue.cluster.partitions[index]
        let jobs = try await queue.finished(ofBatch: batch.number, in: partition, from: first, through: last)
        guard jobs.count == last - first + 1 else { throw StateError.unknownBatch }
        var part = Part(partition: partition, place: place, jobs: jobs)
        part.again = try await queue.endsAgain(of: part.ids, ofBatch: batch.number, in: partition)
        return part
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
            var (place, running, counting) = (0, 0, Counting())
            while place < count {
                let part = try await part(from: place)
                place += part.jobs.count
                var wanted = part.jobs.filter { counting.counts($0.id, in: part) && isWanted($0.id) }[...]
                while !wanted.isEmpty {
                    let some = Part(partition: part.partition, place: part.place, jobs: Array(wanted.prefix(most)))
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
        var place = 0
        while place < count {
            let part = try await part(from: place)
            place += part.jobs.count
            var bodies: [(digest: [UInt8], size: Int)] = []
            for content in try await queue.outcomes(part.ids, in: part.partition).compactMap({ $0?.content }) {
                if let digest = content.digest, content.size > 0 { bodies.append((digest, content.size)) }
                if let exchanges = content.exchanges { bodies.append((exchanges.digest, exchanges.size)) }
            }
            if !bodies.isEmpty { try await body(bodies) }
        }
    }
}
