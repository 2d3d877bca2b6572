internal import GannetBase
internal import GannetHTTP

/// Answers on disk, written in the background: no caller waits for a disk.
///
/// Writes and removals of one key follow each other in order, so that a removed answer stays removed. An answer that waits to be written
/// can be read already.
package final class AnswerDisk: Sendable {
    /// A write or a removal.
    private struct Work {
        let number: UInt64
        let task: Task<Void, Never>
        /// The answer of the key when the work is done.
        var leaves: CachedAnswer?
    }

    private struct State {
        /// The last work for each key. The next work for the key waits for it.
        var last: [CacheKey: Work] = [:]
        var number: UInt64 = 0
        /// The cost of all answers that wait to be written.
        var cost = 0
        var failures = 0
        var lastFailure: StorageFailure?
    }

    /// The threads that block instead of Swift's. Reads have their own, because a caller waits for each, and a disk may write slowly.
    static let readers = TaskThreads(name: "gannet-reads", most: 4)
    static let writers = TaskThreads(name: "gannet-writes", most: 3)

    private let tier: DiskTier
    private let mostWaiting: Int
    private let state = Mutex(State())

    /// Begins to count the folder in the background.
    /// - Parameter mostWaiting: The bytes that may wait to be written.
    package init(_ tier: DiskTier, mostWaiting: Int = 64 << 20) {
        self.tier = tier
        self.mostWaiting = mostWaiting
        Task(executorPreference: Self.writers, priority: .low) { _ = try? tier.tidy() }
    }

    func answer(for key: CacheKey) async -> CachedAnswer? {
        if let work = state.withLock({ $0.last[key] }) { return work.leaves }
        return await withTaskExecutorPreference(Self.readers) { [tier] in
            guard let record = tier.read(key), let facts = StoredAnswer(decodingWithMessage: record.metadata),
                facts.byteCount == record.body.count
            else { return nil }
            return CachedAnswer(facts: facts, body: record.body)
        }
    }

    var statistics: TierStatistics {
        var statistics = TierStatistics()
        let usage = tier.usage
        statistics.entries = usage.files
        statistics.cost = usage.bytes
        statistics.evictions = tier.counts.evictions
        return statistics
    }

    /// Writes an answer. An answer that the disk does not take is a miss later on.
    /// - Parameter isRemoved: Called at a time when no removal can come in between any more.
    func keep(_ answer: CachedAnswer, for key: CacheKey, unless isRemoved: () -> Bool) {
        state.withLock { state in
            // Where nothing else waits, an answer of any size is taken.
            guard state.cost == 0 || state.cost + answer.cost <= mostWaiting, !isRemoved() else { return }
            enqueue(key, leaves: answer, &state) { [self] in
                do {
                    try tier.write(key, metadata: answer.facts.encodedWithMessage, body: answer.body)
                } catch {
                    note(error)
                }
            }
        }
    }

    /// Counts a write that failed for a reason that is the folder's, and not the answer's.
    private func note(_ error: any Error) {
        guard let failure = error as? StorageFailure, failure.reason != .tooLarge else { return }
        state.withLock { state in
            state.failures += 1
            state.lastFailure = failure
        }
    }

    /// The answers that could not be written, and why the last of them could not; nil where all were.
    var failures: (count: Int, sentence: String?) { state.withLock { ($0.failures, $0.lastFailure?.sentence) } }

    func remove(_ key: CacheKey) async {
        let work = state.withLock { state in
            enqueue(key, leaves: nil, &state) { [tier] in _ = try? tier.remove(key) }
        }
        await work.value
    }

    func removeAll() async {
        state.withLock { state in for key in state.last.keys { state.last[key]?.leaves = nil } }
        await finish()
        await withTaskExecutorPreference(Self.writers) { [tier] in _ = try? tier.removeAll() }
    }

    /// Returns when all writes and removals that wait at this moment are done.
    func finish() async {
        for task in state.withLock({ $0.last.values.map(\.task) }) { await task.value }
    }

    // Called under the lock, so that the task is in the table before it can end.
    @discardableResult
    private func enqueue(
        _ key: CacheKey, leaves answer: CachedAnswer?, _ state: inout State, _ work: @escaping @Sendable () -> Void
    ) -> Task<Void, Never> {
        state.number += 1
        let (number, before, cost) = (state.number, state.last[key]?.task, answer?.cost ?? 0)
        state.cost += cost
        let task = Task(executorPreference: Self.writers) {
            await before?.value
            work()
            self.ended(key, number, cost)
        }
        state.last[key] = Work(number: number, task: task, leaves: answer)
        return task
    }

    private func ended(_ key: CacheKey, _ number: UInt64, _ cost: Int) {
        state.withLock { state in
            state.cost -= cost
            if state.last[key]?.number == number { state.last[key] = nil }
        }
    }
}
