import Gannet
import HTTPEngine

/// The course of `gannet run`: feed the queue while it is worked on, until it is empty, write the manifest, and leave nothing in Redis.
///
/// What is done stands in the folder's record, and the queue is made anew by each run: so it does not matter what an interrupted one, or a Redis
/// that was lost, has left there.
struct Run: Sendable {
    private let options: RunOptions
    private let settings: FetchSettings
    private let identity: RunIdentity
    private let access: ClusterAccess
    private let bodies: BodyFolder
    private let interruption: Interruption
    private let endpoint: WorkerEndpoint?
    private let console: Console

    private var cluster: Cluster { access.cluster }

    init(
        _ options: RunOptions, _ settings: FetchSettings, _ identity: RunIdentity, _ access: ClusterAccess, _ bodies: BodyFolder,
        _ interruption: Interruption, _ endpoint: WorkerEndpoint?, _ console: Console
    ) {
        self.options = options
        self.settings = settings
        self.identity = identity
        self.access = access
        self.bodies = bodies
        self.interruption = interruption
        self.endpoint = endpoint
        self.console = console
    }

    func course(_ input: RunInput) async throws(CommandFailure) -> ExitStatus {
        let start = ContinuousClock.now
        console.note(
            "the queue of this run is '\(identity.queue)'; 'gannet status --queue \(identity.queue)\(options.connection.reminder)' shows it."
        )
        let begun = await interruption.cancelling {
            try await begin()
            return try await RecordedFolder.open(bodies, demand: options.demand)
        }
        guard let folder = try begun.get(unlessInterrupted: interruption) else { return await interrupted(input) }
        try input.prepare(in: folder)

        let outcome: RunFeeding.Fed?
        do throws(CommandFailure) {
            outcome = try await feedAndWork(input, folder)
        } catch {
            await leaveNothing()
            throw error
        }
        guard let fed = outcome else { return await interrupted(input) }
        guard folder.counts.listed > 0 else {
            await leaveNothing()
            throw CommandFailure(.noUsableInput, "The input holds no URL that can be fetched.")
        }
        guard try await isComplete(fed.summary) else { return await interrupted(input) }

        let written = await interruption.cancelling {
            try await RunManifest(folder: folder, input: input, headers: options.submission.headers).write()
        }
        guard let totals = try written.get(unlessEndedBy: interruption) else { return await interrupted(input) }
        await leaveNothing()
        let summary = RunSummary(totals: totals, time: ContinuousClock.now - start)
        let status: ExitStatus = options.maxFailures.allows(totals.failed + totals.invalid, of: totals.rows) ? .done : .someFailed
        guard options.json else { return try console.print("\(summary.text) to \(folder.displayPath)\(summary.reference)", last: status) }
        do throws(CommandFailure) {
            try RunManifest.print(folder.manifestPath, console)
        } catch  where error == .outputClosed {
            return status
        }
        return try console.print(summary.json.text, last: status)
    }

    /// An empty queue. The folder's lock says that nobody else is this run: whoever held a lease in it is gone.
    private func begin() async throws(ClusterError) {
        let left = try await cluster.status(of: identity.queue)
        guard left.enqueued > 0 else { return }
        // The URLs they had locked would stay so until the leases end.
        if left.active > 0 { try await cluster.reclaimAll(in: identity.queue) }
        try await cluster.clear(queue: identity.queue)
    }

    /// `nil` when a signal ended it.
    private func feedAndWork(_ input: RunInput, _ folder: RecordedFolder) async throws(CommandFailure) -> RunFeeding.Fed? {
        let (feed, feeder) = AsyncStream.makeStream(of: Void.self)
        let (stops, stopper) = AsyncStream.makeStream(of: Void.self)
        let stopping = Task {
            for await _ in interruption.stops { stopper.yield() }
        }
        defer { stopping.cancel() }
        let working = Task { await work(folder, stops: stops, feed: feed) }
        let feeding = RunFeeding(
            cluster: cluster, queue: identity.queue, folder: folder, input: input, batch: options.batch, submission: options.submission)
        let outcome = await interruption.cancelling { () async throws -> RunFeeding.Fed? in
            try await withThrowingTaskGroup(of: RunFeeding.Fed?.self) { group in
                group.addTask {
                    // Where it fails the worker is to come to its end as after a signal.
                    defer { feeder.finish() }
                    do {
                        let fed = try await feeding.run()
                        say(fed, folder)
                        return fed
                    } catch {
                        stopper.yield()
                        throw error
                    }
                }
                // A worker that cannot go on ends the feeding.
                group.addTask {
                    _ = await working.value
                    return nil
                }
                defer { group.cancelAll() }
                if let fed = try await group.next() ?? nil { return fed }
                // A worker that has found the queue empty knows that the feeding has ended: what that came to is about to be told.
                guard case .success(.empty) = await working.value else { return nil }
                return try await group.next() ?? nil
            }
        }
        let end = try await working.value.get()
        switch end {
        case .drained, .handedBack:
            return try outcome.get(unlessInterrupted: interruption) ?? nil
        case .foreignLeft:
            throw CommandFailure(.unavailable, "What is left in the queue is of another version.")
        case .empty: return try outcome.get(unlessEndedBy: interruption) ?? nil
        }
    }

    private func work(
        _ folder: RecordedFolder, stops: AsyncStream<Void>, feed: AsyncStream<Void>
    ) async -> Result<WorkerEnd, CommandFailure> {
        var worker = options.fetch.workerOptions()
        let tally = WorkTally(console, access.watch, of: WorkTally.Whole { folder.counts.queued }, places: worker.concurrency)
        worker.endsWhenEmpty = true
        worker.drainTimeout = options.drainTimeout
        endpoint?.watch(
            .init(cluster: cluster, queue: identity.queue, options: worker, bodyLimit: nil, tally: tally, interruption: interruption))
        let display = ProgressDisplay(of: tally, on: console)
        let outcome = await cluster.work(
            on: identity.queue, fetch: settings, into: folder, options: worker, stops: stops, feed: feed, activity: tally.activity,
            report: tally.note)
        await display.end()
        tally.finish()
        if interruption.request != nil { console.note("so far: \(ProgressText.counts(tally.snapshot(at: .now))).") }
        return outcome.mapError { CommandFailure($0) }
    }

    private func say(_ fed: RunFeeding.Fed, _ folder: RecordedFolder) {
        Feeding.complain(about: fed.summary, console)
        let (counts, checked) = (folder.counts, fed.checked)
        guard checked.sound + checked.broken + checked.old > 0 else { return }
        if checked.old > 0 {
            console.note("\(Amounts.count(checked.old, "file")) fetched before \(checked.old == 1 ? "is" : "are") older than '--max-age'.")
        }
        if checked.broken > 0 {
            console.note(
                "\(Amounts.count(checked.broken, "file")) fetched before \(checked.broken == 1 ? "is" : "are") missing or changed.")
        }
        console.note(
            "\(checked.sound) of \(Amounts.count(counts.listed, "URL")) \(checked.sound == 1 ? "was" : "were") fetched before and \(checked.sound == 1 ? "is" : "are") there; \(counts.queued) to fetch."
        )
    }

    /// Whether Redis has told of the end of every job it accepted; false when a signal kept it from being asked.
    private func isComplete(_ input: EnqueueSummary) async throws(CommandFailure) -> Bool {
        let asked = await interruption.cancelling { try await cluster.status(of: identity.queue) }
        guard let status = try asked.get(unlessEndedBy: interruption) else { return false }
        let ended = status.done + status.failed + status.cancelled
        guard ended >= input.accepted else {
            throw CommandFailure(
                .unavailable,
                "Redis has lost what it held of this run, as when it is emptied or falls back to an older state: of \(input.accepted) URLs "
                    + "\(ended) are accounted for. What is in the folder is whole; run the command again to fetch the rest.")
        }
        return true
    }

    /// Where Redis is away that waits for the next run, which begins with it.
    private func leaveNothing() async {
        if access.watch.isAway { return }
        await interruption.cleaningUp { try await cluster.clear(queue: identity.queue) }
    }

    private func interrupted(_ input: RunInput) async -> ExitStatus {
        await leaveNothing()
        console.note(
            input.isReadOnce
                ? "interrupted before it was done; what was fetched is kept, and the same command with the same input fetches the rest."
                : "interrupted before it was done; the same command goes on where it stopped.")
        return interruption.status
    }
}
