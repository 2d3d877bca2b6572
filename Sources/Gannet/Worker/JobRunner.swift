internal import BodyStores
internal import ClusterState
internal import GannetRedis
internal import HTTPCaching
internal import HTTPEngine

/// Runs a leased job to its end: fetches the URL, has the output store the body and record the end, and settles the job in Redis.
struct JobRunner: Sendable {
    enum End: Sendable {
        case reported(WorkerReport)
        /// The worker cannot go on. The job was handed back, or comes back when its lease ends.
        case failed(any Error)
    }

    private enum Attempt {
        case found(HeldBody)
        case fetched(Download, FetchTimes)
        /// The origin confirmed that the kept answer is still current.
        case confirmed(KeptBody, OutcomeContent, Retention, after: Duration)
        case failed(FetchError, FetchTimes, after: Duration)
        /// The headers that the job was enqueued with are missing. Without them the origin may send another answer.
        case withoutHeaders
        /// A host that a redirect led to has no free place.
        case putOff(host: String, FetchTimes, Duration)
        /// A host that a redirect led to is given up.
        case hopeless(host: String, FetchTimes)
        case lostTouch(StateError)
        case stopped(any Error)
    }

    /// A kept answer whose body is in its place.
    private struct KeptBody {
        let outcome: OutcomeContent
        let facts: StoredAnswer
        let body: HeldBody
    }

    let queue: FetchQueue
    let downloader: any GatedDownloader
    let output: any JobOutput
    let held: HeldLeases
    let activity: WorkerActivity
    let policy: RetryPolicy
    let freshness: JobFreshness
    /// The limits of hosts for which no rule is stored.
    let hostRule: HostRule
    let sendsTrace: Bool

    func run(_ job: Job) async -> End {
        if let outcome = job.outcome {
            held.add(job.token, cancel: {})
            defer { held.remove(job.token) }
            return await concluding(job) { try await deliver(job, outcome) }
        }
        // The attempt is a task of its own, so that a lost lease can cancel this job alone. This call waits for its end in any case.
        let trying = Task { await attempt(job) }
        held.add(job.token, cancel: trying.cancel)
        defer { held.remove(job.token) }
        let outcome = await withTaskCancellationHandler {
            await trying.value
        } onCancel: {
            trying.cancel()
        }
        return await concluding(job) { try await conclude(job, outcome) }
    }

    /// Hands a job back without an attempt. The job is not charged for it.
    func handBack(_ job: Job) async -> End {
        await end(of: job) { try await handedBack(job) }
    }

    private func attempt(_ job: Job) async -> Attempt {
        let kept: KeptBody?
        do {
            if let body = try await output.found(job) { return .found(body) }
            kept = try await keptBody(job)
        } catch {
            return .stopped(error)
        }
        guard let headers = job.headerFields else { return .withoutHeaders }
        return await ask(job, with: headers, after: kept)
    }

    private func keptBody(_ job: Job) async throws -> KeptBody? {
        guard let outcome = job.stale, let facts = freshness.kept(outcome), let body = try await output.held(outcome, for: job) else {
            return nil
        }
        return KeptBody(outcome: outcome.content, facts: facts, body: body)
    }

    /// Asks the origin for the body or, with a kept answer, whether that is still current.
    private func ask(_ job: Job, with headers: [HeaderField], after known: KeptBody?) async -> Attempt {
        var kept = known
        let moves = HostMoves(of: job, queue: queue, usual: hostRule, activity: activity)
        while true {
            let (start, clock) = (Moment.now, ContinuousClock.now)
            do throws(FetchError) {
                let conditions = kept?.facts.conditions ?? []
                let trace = sendsTrace ? job.traceFields(besides: headers, id: .random(in: 1 ... .max)) : []
                let request = DownloadRequest(url: job.url, body: output.bodyDestination, headers: headers + conditions + trace)
                activity.began(job.token, host: job.host)
                let download = try await downloader.download(request, through: moves)
                activity.ended(job.token, nil, after: ContinuousClock.now - clock)
                let times = FetchTimes(start: start, end: .now)
                guard let asked = kept, download.status == 304 else { return .fetched(download, times) }
                download.body.discard()
                let confirmed = freshness.confirmed(asked.facts, outcome: asked.outcome, by: download, for: job, at: times)
                if let (content, retention) = confirmed { return .confirmed(asked, content, retention, after: download.duration) }
                // The 304 does not fit the kept answer. The next request has no conditions, so that the origin sends the body.
                kept = nil
            } catch {
                activity.ended(job.token, error, after: ContinuousClock.now - clock)
                switch moves.end {
                case .putOff(let host, let pause)?:
                    return .putOff(host: host, FetchTimes(start: start, end: .now), pause)
                case .hopeless(let host)?: return .hopeless(host: host, FetchTimes(start: start, end: .now))
                case .failed(let error)?: return .lostTouch(error)
                case nil: break
                }
                return .failed(error, FetchTimes(start: start, end: .now), after: ContinuousClock.now - clock)
            }
        }
    }

    /// Settles a job in a task of its own. The outcome exists, so a stop of the worker must not cancel this.
    private func concluding(_ job: Job, _ body: @escaping @Sendable () async throws -> WorkerReport) async -> End {
        let conclusion = Task { await end(of: job, body) }
        held.conclude(job.token, abandon: conclusion.cancel)
        return await conclusion.value
    }

    private func end(of job: Job, _ body: () async throws -> WorkerReport) async -> End {
        do {
            return .reported(try await body())
        } catch {
            return StateError(error)?.isCancellation == true ? .reported(.left(JobLabel(job))) : .failed(error)
        }
    }

    /// Calls the output. On an error the job is handed back and the worker has to stop, because the next job would meet the same error.
    private func keeping<Value>(_ job: Job, _ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch {
            // If this fails, the job comes back when its lease ends.
            _ = try? await settle(job, .handedBack)
            throw error
        }
    }

    /// Ends a job whose URL was fetched for another job.
    private func deliver(_ job: Job, _ outcome: URLOutcome) async throws -> WorkerReport {
        if outcome.isNegative {
            let report = try await fail(job, with: outcome.content)
            guard case .failed(let label, _, let errorClass) = report, let now = try? await queue.cluster.now(),
                let failure = outcome.remembered(at: now)
            else { return report }
            return .skipped(label, failure, errorClass: errorClass)
        }
        let body = try await keeping(job) { try await output.held(outcome, for: job) }
        if let body {
            var content = outcome.content
            content.fields[.file] = body.file
            try await note(JobEnd(.cached, content), of: job)
            return try await delivered(job, body)
        }
        // In Redis, zeros stand for the digest of an outcome without one.
        let digest = outcome.content.digest ?? [UInt8](repeating: 0, count: 32)
        return try await settle(job, .bodyMissing(digest: digest)) ? .bodyMissing(JobLabel(job)) : .lost(JobLabel(job))
    }

    /// Ends a job whose URL failed for another job, or whose host is given up.
    private func fail(_ job: Job, with content: OutcomeContent) async throws -> WorkerReport {
        try await note(JobEnd(.failed, content), of: job)
        let retention = Retention(fresh: .zero, keep: .milliseconds(1), isStored: false)
        return try await settle(job, .failed(content, retention)) ? .failed(job, content) : .lost(JobLabel(job))
    }

    private func delivered(_ job: Job, _ body: HeldBody) async throws -> WorkerReport {
        try await settle(job, .delivered) ? .cached(JobLabel(job), file: body.file) : .lost(JobLabel(job))
    }

    private func conclude(_ job: Job, _ attempt: Attempt) async throws -> WorkerReport {
        switch attempt {
        case .found(let body): return try await delivered(job, body)
        case .fetched(let download, let times): return try await place(download, of: job, times)
        case .confirmed(let kept, let content, let retention, let duration):
            try await note(JobEnd(.revalidated, content, duration: duration), of: job)
            let isAccepted = try await settle(job, .revalidated(content, retention), host: .answered)
            return isAccepted ? .revalidated(JobLabel(job), file: kept.body.file) : .lost(JobLabel(job))
        case .failed(let error, _, _) where error.kind == .cancelled:
            return held.isLost(job.token) ? .lost(JobLabel(job)) : try await handedBack(job)
        case .failed(let error, _, _) where error.retry == .local:
            return try await keeping(job) { throw StorageFailure(.other(error.description, errno: error.systemError)) }
        case .failed(let error, let times, let duration): return try await retryOrGiveUp(job, error, times, duration)
        case .withoutHeaders: return try await giveUpWithoutHeaders(job)
        case .putOff(let host, let times, let pause):
            guard job.throttled < policy.giveUpAfter else {
                let detail = "a redirect leads to \(host), which had no free place in all that time"
                let error = FetchError(kind: .throttled, url: job.url, detail: detail)
                return try await giveUp(job, error, times, .zero, host: .none)
            }
            return try await settle(job, .putOff(for: pause)) ? .ledToFullHost(job, host, pause) : .lost(JobLabel(job))
        case .hopeless(let host, let times):
            let detail = "a redirect leads to \(host), which is given up for now: it has taken no connection for too long"
            return try await giveUp(job, FetchError(kind: .connect, url: job.url, detail: detail), times, .zero, host: .none)
        case .lostTouch(let error): throw error
        case .stopped(let error): return try await keeping(job) { throw error }
        }
    }

    /// Fails this job alone, because other jobs of the same URL may still have their headers.
    private func giveUpWithoutHeaders(_ job: Job) async throws -> WorkerReport {
        let error = FetchError(
            kind: .invalidRequest, url: job.url, detail: "the headers that it was enqueued with are not in Redis any more; enqueue it again"
        )
        let retention = Retention(fresh: .zero, keep: .milliseconds(1), isStored: false)
        return try await giveUp(job, error, kept: retention, .zero, host: .none)
    }

    private func place(_ download: Download, of job: Job, _ times: FetchTimes) async throws -> WorkerReport {
        let body: HeldBody
        switch try await keeping(job, { try await output.place(download, of: job) }) {
        case .held(let placed): body = placed
        case .refused(let error): return try await giveUp(job, error, times, download.duration, host: .answered)
        }
        // The body is in its place before the job is settled. A crash in between costs another fetch, but loses nothing.
        let (content, retention) = freshness.outcome(OutcomeContent(download, of: job, file: body.file), of: download, for: job, at: times)
        let bytes = Int(download.byteCount)
        try await note(JobEnd(.fetched, content, duration: download.duration), of: job)
        let isAccepted = try await settle(job, .fetched(content, retention), host: .answered, bytes: bytes)
        return isAccepted ? .fetched(JobLabel(job), bytes: bytes, file: body.file) : .lost(JobLabel(job))
    }

    private func retryOrGiveUp(
        _ job: Job, _ error: FetchError, _ times: FetchTimes, _ duration: Duration
    ) async throws -> WorkerReport {
        let decision = policy.decide(
            AttemptFailure(error.retry), failures: job.failures, throttled: job.throttled, random: .random(in: 0...1))
        let host = Settlement.HostNews(error.kind)
        var reason = error
        switch decision {
        case .retry(let pause):
            return try await settle(job, .retry(after: pause), host: host) ? .putOff(job, error, pause) : .lost(JobLabel(job))
        case .coolDown(let pause):
            return try await settle(job, .throttled(for: pause), host: host) ? .putOff(job, error, pause) : .lost(JobLabel(job))
        case .giveUp: break
        case .giveUpThrottled:
            // Without a proxy or name servers the error stays as it is, because no host has asked for a pause.
            if error.retry != .withoutNetwork { reason = FetchError(kind: .throttled, url: job.url, detail: error.detail) }
        }
        return try await giveUp(job, reason, times, duration, host: host)
    }

    private func giveUp(
        _ job: Job, _ error: FetchError, _ times: FetchTimes, _ duration: Duration, host: Settlement.HostNews
    ) async throws -> WorkerReport {
        try await giveUp(job, error, kept: freshness.retention(of: error, for: job, at: times), duration, host: host)
    }

    private func giveUp(
        _ job: Job, _ error: FetchError, kept retention: Retention, _ duration: Duration, host: Settlement.HostNews
    ) async throws -> WorkerReport {
        let content = OutcomeContent(error, url: job.url)
        try await note(JobEnd(.failed, content, duration: duration), of: job)
        return try await settle(job, .failed(content, retention), host: host) ? .failed(job, error) : .lost(JobLabel(job))
    }

    private func handedBack(_ job: Job) async throws -> WorkerReport {
        try await settle(job, .handedBack) ? .handedBack(JobLabel(job)) : .lost(JobLabel(job))
    }

    /// Settles a job. False if its lease had ended: then this worker's outcome does not count.
    private func settle(
        _ job: Job, _ outcome: Settlement.Outcome, host: Settlement.HostNews = .none, bytes: Int = 0
    ) async throws -> Bool {
        let start = ContinuousClock.now
        let settlement = Settlement(job.token, job.id, outcome, host: host, bytes: bytes)
        let answer = try await queue.settle(settlement, claimsAgain: held.claimsAgain, hostPatience: policy.hostPatience)
        activity.settled(after: ContinuousClock.now - start)
        return answer == .settled
    }

    private func note(_ end: JobEnd, of job: Job) async throws {
        try await keeping(job) { try await output.note(end, of: job) }
    }
}
