import Gannet

/// The course of `gannet run`: feed the queue, work until it is empty, sum up, and leave nothing in Redis.
struct Run: Sendable {
    private let options: RunOptions
    private let settings: FetchSettings
    private let identity: RunIdentity
    private let access: ClusterAccess
    private let folder: BodyFolder
    private let interruption: Interruption
    private let console: Console

    private var cluster: Cluster { access.cluster }

    init(
        _ options: RunOptions, _ settings: FetchSettings, _ identity: RunIdentity, _ access: ClusterAccess, _ folder: BodyFolder,
        _ interruption: Interruption, _ console: Console
    ) {
        self.options = options
        self.settings = settings
        self.identity = identity
        self.access = access
        self.folder = folder
        self.interruption = interruption
        self.console = console
    }

    func course(_ rows: InputRows?) async throws(CommandFailure) -> ExitStatus {
        let start = ContinuousClock.now
        console.detail("the queue of this run is '\(identity.queue)'")
        let beginning = RunBeginning(identity: identity, cluster: cluster, console: console)
        let begun = await interruption.cancelling { try await beginning.make() }
        guard let before = try begun.get(unlessInterrupted: interruption) else { return await interrupted() }

        let input = try await feed(rows, isResumed: before != nil)
        guard let input else { return await interrupted() }
        Feeding.complain(about: input, console)
        guard input.accepted > 0 else {
            await leaveNothing()
            throw CommandFailure(.noUsableInput, "The input holds no URL that can be fetched.")
        }

        switch try await work(WorkTally.Whole(total: input.accepted, done: before?.done ?? 0, failed: before?.failed ?? 0)) {
        case .empty: break
        case .foreignLeft: return .unavailable
        case .drained, .handedBack: return await interrupted()
        }
        let ending = await interruption.cancelling {
            let status = try await cluster.status(of: identity.queue)
            try await cluster.clear(queue: identity.queue)
            return status
        }
        // A signal that came too late to keep the queue from being cleared has nothing to interrupt.
        let status: QueueStatus
        if let value = ending.value {
            status = value
        } else if let value = try ending.get(unlessInterrupted: interruption) {
            status = value
        } else {
            return await interrupted()
        }
        let ended = status.done + status.failed + status.cancelled
        guard ended >= input.accepted else {
            throw CommandFailure(
                .unavailable,
                "Redis has lost what it held of this run, as when it is emptied or falls back to an older state: of \(input.accepted) URLs "
                    + "\(ended) are accounted for. What is in the folder is whole; run the command again to fetch them all.")
        }
        let summary = RunSummary(status: status, fetchedBefore: before?.fetched ?? 0, input: input, time: ContinuousClock.now - start)
        try console.print("\(summary.text) to \(folder.displayPath)")
        return status.failed + input.invalid == 0 ? .done : .someFailed
    }

    /// `nil` when a signal ended it.
    private func feed(_ rows: InputRows?, isResumed: Bool) async throws(CommandFailure) -> EnqueueSummary? {
        let feeding = await interruption.cancelling {
            let producer = try await cluster.producer(queue: identity.queue, batch: RunIdentity.batch, from: identity.source ?? "")
            return try await Feeding.feed(options.input, rows, into: producer)
        }
        do throws(CommandFailure) {
            return try feeding.get(unlessInterrupted: interruption)
        } catch {
            // What an interrupted run left is for the command that mends the input; what this one began is for nobody.
            if !isResumed { await leaveNothing() }
            throw error
        }
    }

    private func work(_ whole: WorkTally.Whole) async throws(CommandFailure) -> WorkerEnd {
        let tally = WorkTally(console, access.watch, of: whole)
        var worker = options.fetch.workerOptions()
        worker.endsWhenEmpty = true
        let display = ProgressDisplay(of: tally, on: console)
        let outcome = await cluster.work(
            on: identity.queue, fetch: settings, into: folder, options: worker, stops: interruption.stops, activity: tally.activity,
            report: tally.note)
        await display.end()
        tally.finish()
        return try outcome.value()
    }

    private func leaveNothing() async {
        await interruption.cleaningUp { try await cluster.clear(queue: identity.queue) }
    }

    private func interrupted() async -> ExitStatus {
        if identity.source == nil {
            // Nobody can go on with an input that has been read away: what is left of it would lie in Redis for good.
            await leaveNothing()
            console.note("interrupted before it was done; standard input cannot be read again, so the same command starts over.")
        } else {
            console.note(
                "interrupted before it was done; the same command goes on where it stopped. 'gannet status --queue \(identity.queue)' shows it."
            )
        }
        return interruption.status
    }
}
