package import RedisClient

/// A queue of URLs to fetch.
///
/// It hands a job to one worker at a time, on a lease, and no URL to two at once. A lease that is neither renewed nor ended in time
/// makes the job claimable again, so that nothing is lost with the worker that held it.
package struct FetchQueue: Sendable {
    let cluster: ClusterState
    let state: QueueState
    let persistently: Persistence

    package init(_ connection: RedisConnection, namespace: String, name: String, persistence: Persistence = Persistence()) {
        cluster = ClusterState(connection, namespace: namespace)
        state = cluster.queue(name)
        persistently = persistence
    }

    /// The channel on which the worker of this name hears of new jobs.
    package func inbox(of worker: String) -> String { cluster.inbox(of: worker) }

    /// Begins a batch, or finds it as it was begun.
    /// - Throws: `StateError.otherHeaders` where it was begun with other headers: its jobs are fetched with those.
    package func begin(batch: String, from source: String, options: BatchOptions = .init()) async throws(StateError) -> BatchProgress {
        try await persistently { () throws(StateError) in
            let progress = try await state.begin(batch: batch, from: source, options: options)
            guard let headers = progress.headers, headers.areSame(as: options.headers) else { throw .otherHeaders }
            return progress
        }
    }

    /// Accepts a part of a batch's input. A part that has been accepted before is answered, not added.
    package func enqueue(
        _ entries: [JobEntry], batch: Int, from offset: Int, to end: Int, closing: Bool = false, delay: Duration = .zero
    ) async throws(StateError) -> EnqueueAnswer {
        try await persistently { () throws(StateError) in
            try await state.enqueue(entries, batch: batch, from: offset, to: end, closing: closing, delay: delay)
        }
    }

    /// Ends a batch as far as it came: nothing can be added to it any more. One that was not begun is none.
    package func close(batch: String) async throws(StateError) {
        try await persistently { () throws(StateError) in
            guard try await state.number(ofBatch: batch) != nil else { return }
            // What its producer had sent before it was cancelled may arrive between the two calls, and then there is another end.
            while true {
                let progress = try await state.begin(batch: batch)
                guard progress.state == .open else { return }
                _ = try await state.enqueue([], batch: progress.number, from: progress.offset, to: progress.offset, closing: true)
            }
        }
    }

    /// Takes jobs on lease. After a lost answer the same request brings the same jobs.
    package func claim(_ request: ClaimRequest) async throws(StateError) -> Claim {
        let answer = try await state.claim(request)
        // Where this fails, the leases end by themselves and the jobs are poison in the end. What was claimed must not suffer by it.
        for job in answer.unreadable { await giveUpUnreadable(job.token, job.id) }
        return Claim(answer)
    }

    /// Extends the leases of `tokens`; returns the lost ones.
    package func renew(_ tokens: [FlightToken], lease: Duration) async throws(StateError) -> Set<FlightToken> {
        try await cluster.renew(tokens, lease: lease)
    }

    /// Ends a job.
    ///
    /// A lease that is gone after an attempt whose reply was lost was most likely ended by that attempt: it counts as settled then.
    /// - Parameter claimsAgain: Not, by a worker that is about to leave: others are told of the place that is free now.
    /// - Parameter hostPatience: A host that takes no connection for longer is given up; zero for never.
    package func settle(
        _ settlement: Settlement, claimsAgain: Bool = true, hostPatience: Duration = .zero
    ) async throws(StateError) -> SettleAnswer {
        var mayHaveSettled = false
        return try await persistently { () throws(StateError) in
            do throws(StateError) {
                let random = Double.random(in: 0...1)
                let answers = try await state.settle(
                    [settlement], claimsAgain: claimsAgain, hostPatience: hostPatience, random: random)
                guard let answer = answers.first else { return .lost }
                return answer == .lost && mayHaveSettled ? .settled : answer
            } catch {
                mayHaveSettled = mayHaveSettled || error.mayHaveExecuted
                throw error
            }
        }
    }

    /// Takes a place for a job's request at the host that a redirect has led it to.
    /// - Parameter usual: How politely hosts are treated for which no rule is stored.
    package func move(_ token: FlightToken, to host: String, usual: HostRule) async throws(StateError) -> Passage {
        try await persistently { () throws(StateError) in try await cluster.move(token, to: host, usual: usual) }
    }

    /// Takes all leases back at once and uncharged. Only for a caller who knows that their holders are gone.
    package func reclaimAll() async throws(StateError) {
        _ = try await persistently { () throws(StateError) in try await state.reclaimAll() }
    }

    /// Depths and totals.
    package func counts() async throws(StateError) -> QueueCounts {
        try await persistently { () throws(StateError) in try await state.counts() }
    }

    /// Depths, totals, workers and the last minutes, for onlookers.
    package func overview() async throws(StateError) -> QueueOverview {
        try await persistently { () throws(StateError) in try await state.overview() }
    }

    /// Says that a worker lives. Nobody waits for it: one that is lost is followed by the next.
    package func beat(_ worker: String, _ record: WorkerRecord) async throws(StateError) -> QueueProgress {
        try await state.beat(worker, record)
    }

    /// Says that a worker is no more.
    package func leave(_ worker: String) async throws(StateError) { try await state.leave(worker) }

    /// Removes the queue and everything in it.
    package func clear() async throws(StateError) {
        try await persistently { () throws(StateError) in try await state.clear() }
    }

    package static let unreadableClass = "unreadable"

    private func giveUpUnreadable(_ token: FlightToken, _ id: URLID) async {
        var content = PageContent(url: "")
        content.fields = [.errorClass: Self.unreadableClass, .errorMessage: "The job's URL is no text."]
        let retention = Retention(fresh: .zero, keep: .milliseconds(1), isStored: false)
        _ = try? await state.settle([Settlement(token, id, .failed(content, retention))], random: 0)
    }
}

/// What a claim brought.
package struct Claim: Sendable {
    package let jobs: [Job]

    /// Jobs that this claim ended as failed: their URL is no text, three workers had died with them, or it had failed for others.
    package let failed: Int
    package let left: ClaimAnswer.Left

    /// There may be more for another claim at once.
    package let isMore: Bool

    /// When to look again at the latest, unless something is heard before.
    package let next: Duration?
    package let isPaused: Bool

    init(_ answer: ClaimAnswer) {
        jobs = answer.jobs.map(Job.init)
        failed = answer.failed + answer.unreadable.count
        left = answer.left
        isMore = answer.isMore || !answer.unreadable.isEmpty
        next = answer.next
        isPaused = answer.isPaused
    }
}
