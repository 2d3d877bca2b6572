internal import Threads

/// Answers on disk. They are written behind the callers, who do not wait for a disk; one after the other for each key, so that what is removed stays so.
package final class AnswerDisk: Sendable {
    private struct State {
        /// The last piece of work for each key, which the next one waits for.
        var last: [CacheKey: (number: UInt64, task: Task<Void, Never>)] = [:]
        var number: UInt64 = 0
    }

    private let tier: DiskTier
    private let state = Mutex(State())

    package init(_ tier: DiskTier) { self.tier = tier }

    func answer(for key: CacheKey) async -> CachedAnswer? {
        guard let key = DiskKey(key.id), let record = await tier.read(key), let facts = StoredAnswer(decoding: record.metadata),
            facts.byteCount == record.body.count
        else { return nil }
        return CachedAnswer(facts: facts, body: record.body)
    }

    /// Writes an answer, or, where its body is there already, what is known of it. What the disk does not take is a miss later on.
    func keep(_ answer: CachedAnswer, for key: CacheKey) {
        guard let diskKey = DiskKey(key.id) else { return }
        enqueue(key) { [tier] in
            let metadata = answer.facts.encoded
            if (try? await tier.updateMetadata(diskKey, metadata, ofBody: answer.facts.digest)) == true { return }
            try? await tier.write(diskKey, metadata: metadata, body: answer.body)
        }
    }

    func remove(_ key: CacheKey) async {
        guard let diskKey = DiskKey(key.id) else { return }
        await enqueue(key) { [tier] in _ = try? await tier.remove(diskKey) }.value
    }

    func removeAll() async {
        await finish()
        try? await tier.removeAll()
    }

    /// Returns when all that was to be written so far is.
    func finish() async {
        for task in state.withLock({ $0.last.values.map(\.task) }) { await task.value }
    }

    @discardableResult
    private func enqueue(_ key: CacheKey, _ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        state.withLock { state in
            state.number += 1
            let (number, before) = (state.number, state.last[key]?.task)
            let task = Task {
                await before?.value
                await work()
                ended(key, number)
            }
            state.last[key] = (number, task)
            return task
        }
    }

    private func ended(_ key: CacheKey, _ number: UInt64) {
        state.withLock { state in
            if state.last[key]?.number == number { state.last[key] = nil }
        }
    }
}
