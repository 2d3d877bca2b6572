internal import BodyStores
internal import ClusterState
internal import HTTPCaching
internal import HTTPEngine

/// Runs a claimed job until its end is known: fetches the URL, and has the output store the body and record the end. The worker's machine
/// is told when the job's place is free and how the job ended.
final class JobRunner: Sendable {
    let queue: FetchQueue
    let downloader: any GatedDownloader
    let output: any JobOutput
    let fetches = LocalFetches()
    let activity: WorkerActivity
    let hopWaits: HopWaits
    let policy: RetryPolicy
    let freshness: JobFreshness
    /// The limits of hosts for which no rule is stored.
    let hostRule: HostRule
    let lease: Duration
    let sendsTrace: Bool
    let tell: @Sendable (WorkerMachine.Input) -> Void

    init(
        _ queue: FetchQueue, _ downloader: any GatedDownloader, _ output: any JobOutput, _ activity: WorkerActivity,
        _ options: WorkerOptions, tell: @escaping @Sendable (WorkerMachine.Input) -> Void
    ) {
        self.queue = queue
        self.downloader = downloader
        self.output = output
        self.activity = activity
        self.tell = tell
        hopWaits = HopWaits(places: options.concurrency)
        policy = options.retryPolicy
        freshness = JobFreshness(policy: options.freshness, leastKept: options.outcomesKept)
        hostRule = options.hostRule
        lease = options.lease
        sendsTrace = options.sendsTrace
    }

    func run(_ claimed: ClaimedJob, _ handle: TransferHandle) async {
        let job = claimed.job
        guard job.needsTransfer else { return await conclude(job) { try await endWithoutTransfer(claimed) } }
        let moves = HostMoves(of: job, queue: queue, usual: hostRule, lease: lease, activity: activity, waits: hopWaits, tell: tell)
        let attempt = JobAttempt(job: job, runner: self, moves: moves)
        let end = await fetches.fetch(claimed, handle, adopt: moves.adopt) { (await attempt.run(), moves) }
        guard case .ended((let outcome, let moves), let reason) = end else { return tell(.adopted(job.token)) }
        tell(.transferEnded(job.token, bytes: outcome.bytesInMemory))
        await conclude(job, at: moves) { try await conclude(job, outcome, cancelled: reason) }
    }

    private func endWithoutTransfer(_ claimed: ClaimedJob) async throws -> Conclusion {
        let job = claimed.job
        if let outcome = job.outcome { return try await deliver(job, outcome, at: claimed.now) }
        if job.isPoison { return try await fail(job, with: .poison(job.url), kept: Self.poisonKept) }
        return try await fail(job, with: .hostGivenUp(job.url))
    }

    /// Tells the machine how a job ends.
    private func conclude(_ job: Job, at moves: HostMoves? = nil, _ body: () async throws -> Conclusion) async {
        do {
            var conclusion = try await body()
            conclusion.place = moves?.leave(conclusion.settlement.host)
            tell(.concluded(job.token, conclusion))
        } catch {
            // The worker has to stop, because the next job would meet the same error. This job is given back.
            var conclusion = settled(job, .handedBack, nil)
            conclusion.place = moves?.leave(.none)
            // A call is cancelled only after the machine's end.
            tell(.broken(job.token, conclusion, error))
        }
    }

    private func conclude(
        _ job: Job, _ outcome: JobAttempt.Outcome, cancelled reason: WorkerMachine.Cancellation?
    ) async throws -> Conclusion {
        switch outcome {
        case .found(let body): return settled(job, .delivered, .cached(JobLabel(job), file: body.file))
        case .fetched(let download, let times): return try await place(download, of: job, times)
        case .confirmed(let kept, let content, let retention, let duration):
            try await output.note(JobEnd(.revalidated, content, duration: duration), of: job)
            return settled(job, .revalidated(content, retention), .revalidated(JobLabel(job), file: kept.body.file), host: .answered)
        case .failed(let error, let times, let duration) where error.kind == .cancelled:
            guard reason == .overdue else { return settled(job, .handedBack, .handedBack(JobLabel(job))) }
            let detail = "the request was cut off, because it had lasted longer than any request may"
            return try await retryOrGiveUp(job, FetchError(kind: .timeout(.body), url: job.url, detail: detail), times, duration)
        case .failed(let error, _, _) where error.retry == .local:
            throw StorageFailure(.other(error.description, errno: error.systemError))
        case .failed(let error, let times, let duration): return try await retryOrGiveUp(job, error, times, duration)
        case .withoutHeaders: return try await giveUpWithoutHeaders(job)
        case .putOff(let host, let times, let pause): return try await putOff(job, host, times, pause)
        case .hopeless(let host, let times):
            let detail = "a redirect leads to \(host), which is given up for now: it has taken no connection for too long"
            return try await giveUp(job, FetchError(kind: .connect, url: job.url, detail: detail), times, .zero, host: .none)
        case .lostTouch(let error): throw error
        case .stopped(let error): throw error
        }
    }

    func settled(
        _ job: Job, _ outcome: Settlement.Outcome, _ report: WorkerReport?, host: Settlement.HostNews = .none, bytes: Int = 0
    ) -> Conclusion {
        let settlement = Settlement(job.token, job.id, outcome, host: host, bytesFetched: bytes, isDelivery: job.outcome != nil)
        return Conclusion(settlement, report)
    }
}
