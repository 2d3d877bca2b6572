/// Batches and the queue as a whole, for those who look after it.
extension FetchQueue {
    /// The batches that are remembered, the latest first, at most `limit` of them; and how many there are.
    package func batches(limit: Int) async throws(StateError) -> (records: [BatchRecord], total: Int) {
        try await persistently { () throws(StateError) in
            let all = try await state.batches()
            return (try await state.records(ofBatches: all.prefix(limit).map(\.number)), all.count)
        }
    }

    /// What is kept of a batch; `nil` for one that is not known.
    package func batch(named name: String) async throws(StateError) -> BatchRecord? {
        try await persistently { () throws(StateError) in
            guard let number = try await state.number(ofBatch: name) else { return nil }
            return try await state.records(ofBatches: [number]).first
        }
    }

    /// How many jobs of a batch have ended with an outcome.
    package func finishedCount(ofBatch number: Int) async throws(StateError) -> Int {
        try await persistently { () throws(StateError) in try await state.finishedCount(ofBatch: number) }
    }

    /// URLs whose jobs have ended, in that order, from one place to another; a URL stands there once for each end of a job of its.
    package func finished(ofBatch number: Int, from first: Int, through last: Int) async throws(StateError) -> [URLID] {
        try await persistently { () throws(StateError) in try await state.finished(ofBatch: number, from: first, through: last) }
    }

    /// The pages of URLs, in their order, `nil` for those of which nothing is known.
    package func pages(_ ids: [URLID]) async throws(StateError) -> [Page?] {
        try await persistently { () throws(StateError) in try await cluster.pages(ids) }
    }

    /// Ends what waits of a batch; `nil` for one that is not known.
    package func cancel(batch name: String) async throws(StateError) -> Int? {
        try await persistently { () throws(StateError) in
            guard let number = try await state.number(ofBatch: name) else { return nil }
            return try await state.cancel(batch: number)
        }
    }

    /// Lets the queue's jobs wait. Returns whether they did before.
    package func pause() async throws(StateError) -> Bool {
        try await persistently { () throws(StateError) in try await state.pause() }
    }

    /// Lets workers claim again. Returns whether they could not before.
    package func resume() async throws(StateError) -> Bool {
        try await persistently { () throws(StateError) in try await state.resume() }
    }

    /// Queue time, ms.
    package func now() async throws(StateError) -> Int {
        try await persistently { () throws(StateError) in try await cluster.now() }
    }
}
