internal import GannetBase
internal import GannetHTTP
internal import GannetQueue
internal import GannetRedis
internal import Results

/// Runs a claimed job until its end is known: fetches the URL, and has the output store the body and record the end. The worker's machine
/// is told when the job's place is free and how the job ended.
///
/// The functions that wait are few and have few variables, because Swift keeps these for each job that is under way. All other
/// work is in functions of its own, and the compiler must not put it back (`@inline(never)`).
final class JobRunner: Sendable {
    let queue: FetchQueue
    let downloader: any Downloader
    let output: any JobOutput
    let fetches: LocalFetches
    /// Runs the tasks of the worker.
    let executor: (any TaskExecutor)?
    let activity: WorkerActivity
    let hopWaits: HopWaits
    let options: WorkerOptions
    let freshness: JobFreshness
    let sites: Sites
    let paces: Paces
    let tell: @Sendable (WorkerMachine.Input) -> Void

    init(
        _ queue: FetchQueue, _ downloader: any Downloader, _ output: any JobOutput, _ activity: WorkerActivity,
        _ options: WorkerOptions, _ sites: Sites, tell: @escaping @Sendable (WorkerMachine.Input) -> Void
    ) {
        self.queue = queue
        self.downloader = downloader
        self.output = output
        self.activity = activity
        self.sites = sites
        paces = Paces(queue, adapts: options.adaptsPace)
        self.tell = tell
        // Work on files may block, so it gets Swift's own threads, of which there is one for each core.
        if case .memory = output.bodyDestination { executor = TaskThread.jobs } else { executor = nil }
        fetches = LocalFetches(on: executor)
        hopWaits = HopWaits(places: options.concurrency)
        self.options = options
        freshness = JobFreshness(policy: options.freshness)
    }

    func run(_ job: Job, _ handle: TransferHandle) async {
        guard job.needsTransfer else { return await end(job) { try await conclusionWithoutAttempt(of: job) } }
        guard let result = await fetches.result(of: JobAttempt(job, self), handle) else { return tell(.adopted(job.token)) }
        tell(.transferEnded(job.token, bytes: result.bytesToStore))
        await end(job, result.wire) { try await conclusion(of: job, after: result, cancelled: handle.reason) }
    }

    @inline(never) private func conclusionWithoutAttempt(of job: Job) async throws -> Conclusion {
        guard let outcome = job.outcome else { return job.isPoison ? poison(job) : hopeless(job) }
        if !outcome.isNegative, let rule = await ruleAgainst(job) { return disallowed(job, by: rule) }
        let body = outcome.isNegative ? nil : try await output.held(outcome, for: job)
        return delivered(outcome, body, to: job)
    }

    /// The rule against a body that was fetched for another job, which may have asked no site. Rules that cannot be had keep no body back: nothing
    /// is requested.
    private func ruleAgainst(_ job: Job) async -> String? {
        guard job.manners.obeys, let url = try? CanonicalURL(job.url), case .denied(let rule) = await sites.permission(for: url) else {
            return nil
        }
        return rule
    }

    @inline(never) private func conclusion(
        of job: Job, after result: AttemptResult, cancelled reason: WorkerMachine.Cancellation?
    ) async throws -> Conclusion {
        guard case .fetched(let download) = result.kind else {
            let conclusion = try concluded(job, after: result, cancelled: reason)
            guard conclusion.isFailure, let exchanges = try await keptExchanges(result.wire, body: nil, of: job) else {
                return conclusion
            }
            return conclusion.keeping(exchanges)
        }
        // The body is in its place before the job is settled. A crash in between costs another fetch, but loses nothing.
        let digest = download.body.digest
        let placement = try await output.place(download, digest: digest, of: job)
        let exchanges = try await keptExchanges(result.wire, body: digest, of: job)
        return fetched(job, download, digest, placement, exchanges, at: result.times)
    }

    /// Where the exchanges are kept for an export; nil for a batch that does not ask for it.
    private func keptExchanges(_ wire: WireRecord?, body: SHA256Digest?, of job: Job) async throws -> ExchangesPlace? {
        guard job.keepsWire, let wire else { return nil }
        return try await output.keep(wire, body: body, of: job)
    }

    /// Has the output note how a job ends, and tells the machine.
    @inline(never) private func end(_ job: Job, _ wire: WireRecord? = nil, _ conclusion: () async throws -> Conclusion) async {
        do {
            let conclusion = try await conclusion()
            if let end = conclusion.end { try await output.note(end, wire, of: job) }
            tell(.concluded(job.token, conclusion))
        } catch {
            stop(at: job, error)
        }
    }

    /// The worker has to stop, because the next job would meet the same error. This job is given back. A call is cancelled only after the
    /// machine's end.
    @inline(never) private func stop(at job: Job, _ error: any Error) {
        tell(.broken(job.token, Conclusion(of: job, .handedBack, .handedBack(JobLabel(job))), error))
    }
}
