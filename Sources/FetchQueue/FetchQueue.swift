package import ClusterState
package import RedisClient

/// A queue of URLs to fetch.
///
/// It hands a job to one worker at a time, on a lease. A lease that is neither renewed nor ended in time makes the job claimable
/// again, so that nothing is lost with the worker that held it.
package struct FetchQueue: Sendable {
    private let state: ClusterState
    private let persistently: Persistence

    package init(_ connection: RedisConnection, namespace: String, name: String, persistence: Persistence = Persistence()) {
        state = ClusterState(connection, namespace: namespace, queue: name)
        persistently = persistence
    }

    /// The channel on which a worker with nothing to do hears of new jobs.
    package var wakeChannel: String { state.wakeChannel }

    /// Accepts a part of a batch's input. A part that has been accepted before is answered, not added.
    package func enqueue(
        _ urls: [(id: URLID, url: String)], batch: String, from offset: Int, to end: Int
    ) async throws(RedisError) -> BatchProgress {
        try await persistently { () throws(RedisError) in
            try await state.enqueue(urls, batch: batch, from: offset, to: end)
        }
    }

    /// Notes what a batch is made from, unless it was noted before; returns what is noted.
    package func begin(batch: String, source: String) async throws(RedisError) -> String {
        try await persistently { () throws(RedisError) in try await state.begin(batch: batch, source: source) }
    }

    /// How far a batch has been accepted.
    package func progress(ofBatch batch: String) async throws(RedisError) -> BatchProgress {
        try await persistently { () throws(RedisError) in try await state.progress(ofBatch: batch) }
    }

    /// Lets go of a batch's record, once its input has been accepted to the end. Tried once: a record that stays costs a
    /// hundred bytes, and nobody should wait for that.
    package func forget(batch: String) async throws(RedisError) {
        try await state.forget(batch: batch)
    }

    /// Takes up to `limit` jobs on lease.
    ///
    /// Not repeated after a lost reply: jobs it may have taken come back when their lease ends.
    package func claim(_ limit: Int, lease: Duration) async throws(RedisError) -> Claim {
        let answer = try await state.claim(limit, lease: lease, nonce: .random(in: .min ... .max))
        // Where this fails, the leases end by themselves and the jobs are poison in the end. What was claimed must not suffer by it.
        for token in answer.unreadable { _ = try? await state.settle(token, .failed, bytes: 0) }
        return Claim(
            jobs: answer.leases.map(Job.init), unreadable: answer.unreadable.count, nextLeaseEnd: answer.nextLeaseEnd,
            poisoned: answer.poisoned, foreign: answer.foreign, waiting: answer.waiting)
    }

    /// Extends the leases of `tokens`; returns the lost ones.
    package func renew(_ tokens: [LeaseToken], lease: Duration) async throws(RedisError) -> Set<LeaseToken> {
        try await state.renew(tokens, lease: lease)
    }

    /// Ends a job. False when its lease was lost, and the job is another worker's.
    ///
    /// A lease that is gone after an attempt whose reply was lost was most likely ended by that attempt: this is true then.
    package func settle(_ job: Job, _ outcome: JobOutcome, bytes: Int = 0) async throws(RedisError) -> Bool {
        var mayHaveSettled = false
        return try await persistently { () throws(RedisError) in
            do throws(RedisError) {
                return try await state.settle(job.token, outcome, bytes: bytes) || mayHaveSettled
            } catch {
                mayHaveSettled = mayHaveSettled || error.mayHaveExecuted
                throw error
            }
        }
    }

    /// Takes all leases back at once and uncharged. Only for a caller who knows that their holders are gone.
    package func reclaimAll() async throws(RedisError) {
        while try await persistently({ () throws(RedisError) in try await state.reclaim(Self.mostReclaimed) }) > 0 {}
    }

    /// Leases taken back in one call: no other client waits long for it.
    private static let mostReclaimed = 1000

    /// Depths and totals.
    package func counts() async throws(RedisError) -> QueueCounts {
        try await persistently { () throws(RedisError) in try await state.counts() }
    }

    /// Removes the queue and everything in it.
    package func clear(batch: String) async throws(RedisError) {
        try await persistently { () throws(RedisError) in try await state.clear(batch: batch) }
    }
}

/// What a claim brought.
package struct Claim: Sendable {
    package let jobs: [Job]

    /// Jobs that this claim ended as failed, since their URL is no text.
    package let unreadable: Int

    /// When a lease of anyone ends unless it is renewed, and its job could be claimed.
    package let nextLeaseEnd: Duration?

    /// Jobs that were given up because three workers had died holding them.
    package let poisoned: Int

    /// Jobs of another version that the claim met and left.
    package let foreign: Int

    /// Jobs that wait after the claim, those among them.
    package let waiting: Int
}
