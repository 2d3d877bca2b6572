import Gannet

/// The course of `gannet run`: feed the queue, work until it is empty, sum up, and leave nothing in Redis.
struct Run: Sendable {
    private let options: RunOptions
    private let settings: FetchSettings
    private let identity: RunIdentity
    private let cluster: Cluster
    private let folder: BodyFolder
    private let interruption: Interruption
    private let console: Console

    init(
        _ options: RunOptions, _ settings: FetchSettings, _ identity: RunIdentity, _ cluster: Cluster, _ folder: BodyFolder,
        _ interruption: Interruption, _ console: Console
    ) {
        self.options = options
        self.settings = settings
        self.identity = identity
        self.cluster = cluster
        self.folder = folder
        self.interruption = interruption
        self.console = console
    }

    func course(_ lines: URLLines?) async throws(CommandFailure) -> ExitStatus {
        let start = ContinuousClock.now
        console.detail("the queue of this run is '\(identity.queue)'")
        let feeding = await interruption.cancelling {
            try await startOverIfChanged()
            let producer = try await cluster.producer(queue: identity.queue, batch: RunIdentity.batch)
            return try await Feeding.feed(options.input, lines, into: producer)
        }
        guard let input = try feeding.get(unlessInterrupted: interruption) else { return await interrupted() }
        Feeding.complain(about: input, console)
        guard input.accepted > 0 else {
            try await clear()
            throw CommandFailure(.noUsableInput, "The input holds no URL that can be fetched.")
        }

        guard try await work() == .empty else { return await interrupted() }
        let status = try await CommandFailure.wrapping { () throws(ClusterError) in
            try await cluster.status(of: identity.queue)
        }
        try await clear()
        try console.print(summary(status, input, ContinuousClock.now - start))
        return status.failed + input.invalid == 0 ? .done : .someFailed
    }

    private func work() async throws(CommandFailure) -> WorkerEnd {
        let tally = WorkTally(console)
        var worker = options.fetch.workerOptions()
        worker.endsWhenEmpty = true
        let ticker = Task {
            while (try? await Task.sleep(for: Self.progressInterval)) != nil { console.note(tally.progress) }
        }
        let outcome = await cluster.work(
            on: identity.queue, fetch: settings, into: folder, options: worker, stops: interruption.stops, report: tally.note)
        ticker.cancel()
        tally.finish()
        return try outcome.value()
    }

    /// What an interrupted run left is only of use to a run of the same list.
    private func startOverIfChanged() async throws(ClusterError) {
        let source = identity.source ?? "standard input \(UInt64.random(in: .min ... .max))"
        if try await cluster.begin(batch: RunIdentity.batch, of: identity.queue, from: source) {
            let left = try await cluster.status(of: identity.queue)
            if left.enqueued > 0 { console.note("going on with an interrupted run: \(left.fetched) of \(left.enqueued) are fetched.") }
            // The queue is this run's own, and the folder's lock says that nobody else is this run: whoever held a lease is gone.
            if left.active > 0 { try await cluster.reclaimAll(in: identity.queue) }
            return
        }
        console.note("the list is not the one of the interrupted run in this folder: starting over.")
        try await cluster.clear(queue: identity.queue, batch: RunIdentity.batch)
        _ = try await cluster.begin(batch: RunIdentity.batch, of: identity.queue, from: source)
    }

    private func clear() async throws(CommandFailure) {
        try await CommandFailure.wrapping { () throws(ClusterError) in
            try await cluster.clear(queue: identity.queue, batch: RunIdentity.batch)
        }
    }

    private func interrupted() async -> ExitStatus {
        if identity.source == nil {
            // Nobody can go on with an input that has been read away: what is left of it would lie in Redis for good.
            try? await cluster.clear(queue: identity.queue, batch: RunIdentity.batch)
            console.note("interrupted before it was done; standard input cannot be read again, so the same command starts over.")
        } else {
            console.note(
                "interrupted before it was done; the same command goes on where it stopped. 'gannet status --queue \(identity.queue)' shows it.")
        }
        return interruption.status
    }

    private func summary(_ status: QueueStatus, _ input: EnqueueSummary, _ time: Duration) -> String {
        var parts = ["\(Amounts.count(status.fetched, "URL")) fetched", "\(status.failed) failed"]
        if input.repeated > 0 { parts.append("\(input.repeated) listed more than once") }
        if input.invalid > 0 { parts.append("\(input.invalid) invalid") }
        return parts.joined(separator: ", ") + "; \(Amounts.bytes(status.bytes)) in \(Amounts.time(time)) to \(folder.path)"
    }

    private static let progressInterval = Duration.seconds(10)
}
