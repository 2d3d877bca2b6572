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
    let downloader: any GatedDownloader
    let output: any JobOutput
    let fetches: LocalFetches
    /// Runs the tasks of the worker.
    let executor: (any TaskExecutor)?
    let activity: WorkerActivity
    let hopWaits: HopWaits
    let policy: RetryPolicy
    let freshness: JobFreshness
    /// The limits of hosts for which no rule is stored.
    let hostRule: HostRule
    let lease: Duration
    let sendsTrace: Bool
    let sites: Sites
    let paces: Paces
    let tell: @Sendable (WorkerMachine.Input) -> Void

    private static let thread = TaskThread(name: "jobs")

    init(
        _ queue: FetchQueue, _ downloader: any GatedDownloader, _ output: any JobOutput, _ activity: WorkerActivity,
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
        if case .memory = output.bodyDestination { executor = Self.thread } else { executor = nil }
        fetches = LocalFetches(on: executor)
        hopWaits = HopWaits(places: options.concurrency)
        policy = options.retryPolicy
        freshness = JobFreshness(policy: options.freshness)
        hostRule = options.hostRule
        lease = options.lease
        sendsTrace = options.sendsTrace
    }

    func run(_ claimed: ClaimedJob, _ handle: TransferHandle) async {
        let job = claimed.job
        guard job.needsTransfer else { return await conclude(job, at: nil) { try await endWithoutTransfer(claimed) } }
        let attempt = attempt(at: claimed)
        let end = await fetches.fetch(claimed, handle, adopt: attempt.moves.adopt) { await attempt.transferred() }
        guard case .ended(let transferred, let reason) = end else { return tell(.adopted(job.token)) }
        tell(.transferEnded(job.token, bytes: transferred.bytesToStore))
        await conclude(job, at: transferred.moves, transferred.wire) { try await conclude(job, transferred, cancelled: reason) }
    }

    @inline(never) private func attempt(at claimed: ClaimedJob) -> JobAttempt {
        let job = claimed.job
        let moves = HostMoves(
            of: job, queue: queue, usual: hostRule, lease: lease, activity: activity, waits: hopWaits,
            sites: job.manners.obeys ? sites : nil, paces: paces, tell: tell)
        return JobAttempt(job: job, claimed: claimed.now, runner: self, moves: moves, wire: output.wireRecord(for: job))
    }

    private func endWithoutTransfer(_ claimed: ClaimedJob) async throws -> Conclusion {
        let job = claimed.job
        guard let outcome = job.outcome else { return job.isPoison ? endOfPoison(job) : endAtGivenUpHost(job) }
        if !outcome.isNegative, let refusal = await refusal(of: job) { return refused(job, by: refusal) }
        let body = outcome.isNegative ? nil : try await output.held(outcome, for: job)
        return delivered(outcome, body, to: job, at: claimed.now)
    }

    /// The rule against a body that was fetched for another job, which may have asked no site. Rules that cannot be had keep no body back: nothing
    /// is requested.
    private func refusal(of job: Job) async -> String? {
        guard job.manners.obeys, let url = try? CanonicalURL(job.url), case .denied(let rule) = await sites.permission(for: url) else {
            return nil
        }
        return rule
    }

    private func conclude(
        _ job: Job, _ transferred: LocalFetches.Transferred, cancelled reason: WorkerMachine.Cancellation?
    ) async throws -> Conclusion {
        guard let fetched = transferred.fetched else {
            let conclusion = try concluded(job, transferred.outcome, cancelled: reason)
            guard conclusion.isFailure, let place = try await keptExchanges(transferred, body: nil, of: job) else { return conclusion }
            return conclusion.keeping(place)
        }
        // The body is in its place before the job is settled. A crash in between costs another fetch, but loses nothing.
        let digest = fetched.download.body.digest
        let placement = try await output.place(fetched.download, digest: digest, of: job)
        return placed(placement, fetched, digest, try await keptExchanges(transferred, body: digest, of: job), of: job)
    }

    /// Where the exchanges are kept for an export; nil for a batch that does not ask for it.
    private func keptExchanges(
        _ transferred: LocalFetches.Transferred, body: SHA256Digest?, of job: Job
    ) async throws -> ExchangesPlace? {
        guard job.keepsWire, let wire = transferred.wire else { return nil }
        return try await output.keep(wire, body: body, of: job)
    }

    /// Has the output note how a job ends, and tells the machine.
    private func conclude(
        _ job: Job, at moves: HostMoves?, _ wire: WireRecord? = nil, _ conclusion: () async throws -> Conclusion
    ) async {
        do {
            let conclusion = try await conclusion()
            if var end = conclusion.end {
                end.wire = wire
                try await output.note(end, of: job)
            }
            tellEnd(of: job, conclusion, at: moves)
        } catch {
            tellBreak(at: job, error, at: moves)
        }
    }

    @inline(never) private func tellEnd(of job: Job, _ conclusion: Conclusion, at moves: HostMoves?) {
        tell(.concluded(job.token, conclusion.leaving(moves?.leave(conclusion.settlement.host))))
    }

    /// The worker has to stop, because the next job would meet the same error. This job is given back. A call is cancelled only after the
    /// machine's end.
    @inline(never) private func tellBreak(at job: Job, _ error: any Error, at moves: HostMoves?) {
        tell(.broken(job.token, settled(job, .handedBack, .handedBack(JobLabel(job))).leaving(moves?.leave(.none)), error))
    }
}
