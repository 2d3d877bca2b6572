internal import GannetHTTP
internal import GannetQueue
internal import GannetRedis
internal import Results

/// How a job ends. An object, because it passes through many hands and takes much room.
final class Conclusion: Sendable {
    /// Redis is told this.
    let settlement: Settlement
    /// The news once Redis has settled the job; `nil` for none.
    let report: WorkerReport?
    /// The output has to note this before Redis hears of the settlement.
    let end: JobRecord?

    init(_ settlement: Settlement, _ report: WorkerReport?, noting end: JobRecord? = nil) {
        self.settlement = settlement
        self.report = report
        self.end = end
    }

    convenience init(
        of job: Job, _ outcome: Settlement.Outcome, _ report: WorkerReport?, host: Settlement.HostNews = .none, bytes: Int = 0,
        noting end: JobRecord? = nil
    ) {
        let settlement = Settlement(job.token, job.id, outcome, host: host, bytesFetched: bytes, isDelivery: job.outcome != nil)
        self.init(settlement, report, noting: end)
    }

    /// How long the worker's machine has no network, as far as this attempt shows.
    var networkPause: Duration? {
        if case .putOff(_, let error, let pause)? = report, error.retry.lacksNetwork { pause } else { nil }
    }

    var isFailure: Bool { if case .failed = settlement.outcome { true } else { false } }

    /// The same failure, with the place of its exchanges.
    func keeping(_ exchanges: ExchangesPlace) -> Conclusion {
        guard case .failed(var content, let retention) = settlement.outcome else { return self }
        content.fields[.wire] = exchanges.text
        var settlement = settlement
        settlement.outcome = .failed(content, retention)
        return Conclusion(settlement, report, noting: end)
    }
}

/// Makes conclusions of what is known of a job. No function here waits.
extension JobRunner {
    /// In Redis, zeros stand for the digest of an outcome without one.
    private static let noDigest = [UInt8](repeating: 0, count: 32)

    // MARK: Without an attempt

    /// Ends a job whose URL was fetched for another job.
    /// - Parameter body: The body of that outcome in this job's place, if it is there.
    @inline(never) func delivered(_ outcome: URLOutcome, _ body: HeldBody?, to job: Job) -> Conclusion {
        if outcome.isNegative {
            // The outcome is another batch's, which heeds more than this one.
            if outcome.content.fields[.errorClass] == FailureCounts.disallowed, job.manners != .obeying {
                return Conclusion(of: job, .bodyMissing(digest: Self.noDigest), nil)
            }
            return failed(job, with: outcome.content, remembered: outcome.remembered(at: job.handedOut))
        }
        if job.manners.optOuts == .heed, let optOut = outcome.content.fields[.optOut] { return disallowed(job, by: optOut) }
        guard let body else {
            return Conclusion(of: job, .bodyMissing(digest: outcome.content.digest ?? Self.noDigest), .bodyMissing(JobLabel(job)))
        }
        var content = outcome.content
        content.fields[.file] = body.file
        return Conclusion(
            of: job, .delivered, .cached(JobLabel(job), file: body.file), noting: JobRecord(job.id, .there, content.noted(for: job.manners))
        )
    }

    /// Ends a job whose site does not permit it the body that another job was given.
    func disallowed(_ job: Job, by rule: String) -> Conclusion {
        failed(job, with: OutcomeContent(FetchError(kind: .disallowed, url: job.url, detail: rule), url: job.url))
    }

    /// Ends a job that three workers died with.
    func poison(_ job: Job) -> Conclusion {
        let content = OutcomeContent.failure(job.url, ExchangeRequest.poisonClass, "Three workers died while they had it.")
        return failed(job, with: content, kept: job.keeping.outcomesKept)
    }

    /// Ends a job whose host is given up, or that was put off for too long, with the failure of the last request there.
    func hopeless(_ job: Job) -> Conclusion {
        guard let last = job.hostFailure else {
            let content = OutcomeContent.failure(job.url, "connect", "Its host was given up, because it did not answer.")
            return failed(job, with: content, kept: job.keeping.outcomesKept)
        }
        let isOwn = last.url == job.url
        let sentence = isOwn ? last.failureSentence : "Its host was given up. The last request there: \(last.failureSentence)"
        var content = OutcomeContent.failure(job.url, last.fields[.errorClass] ?? "connect", sentence)
        if isOwn { content.status = last.status }
        return failed(job, with: content, kept: job.keeping.outcomesKept)
    }

    /// Fails a job with an outcome that no later job gets.
    /// - Parameter kept: For how long an export of the job's batch finds the outcome. Jobs that follow the URL get it too.
    private func failed(
        _ job: Job, with content: OutcomeContent, remembered failure: RememberedFailure? = nil, kept: Duration = .milliseconds(1)
    ) -> Conclusion {
        let retention = Retention(fresh: .zero, keep: kept, isStored: false)
        let report = WorkerReport.failed(job, content, remembered: failure)
        return Conclusion(of: job, .failed(content, retention), report, noting: JobRecord(job.id, .failed, content))
    }

    // MARK: After an attempt

    /// - Throws: An error that stops the worker, because the next job would meet it too.
    @inline(never) func concluded(
        _ job: Job, after result: AttemptResult, cancelled reason: WorkerMachine.Cancellation?
    ) throws -> Conclusion {
        switch result.kind {
        case .fetched: preconditionFailure("A body is stored before its job is concluded.")
        case .found(let body): return Conclusion(of: job, .delivered, .cached(JobLabel(job), file: body.file))
        case .confirmed(let kept, let content, let retention, let duration):
            var end = JobRecord(job.id, .revalidated, content, duration: duration)
            end.fetchedAt = Int(Moment.now.millisecondsSince1970)
            return Conclusion(
                of: job, .revalidated(content, retention), .revalidated(JobLabel(job), file: kept.body.file), host: .answered,
                noting: end)
        case .failed(let error, let duration) where error.kind == .cancelled:
            guard reason == .overdue else { return Conclusion(of: job, .handedBack, .handedBack(JobLabel(job))) }
            let detail = "the request was cut off, because it had lasted longer than any request may"
            return retriedOrGivenUp(job, FetchError(kind: .timeout(.body), url: job.url, detail: detail), result.times, duration)
        case .failed(let error, let duration):
            if error.retry.isLocal { throw StorageFailure(.other(error.description, errno: error.systemError)) }
            return retriedOrGivenUp(job, error, result.times, duration)
        case .refused(let error, let host): return givenUp(job, error, result.times, .zero, host: host)
        case .withoutHeaders: return withoutHeaders(job)
        case .atFullHost(let host, let pause): return putOff(job, at: host, for: pause)
        // It was a turn at its host, and nothing else: nobody has to hear of it.
        case .beforeItsTurn: return Conclusion(of: job, .handedBack, nil)
        case .broken(let error): throw error
        }
    }

    /// Ends a job whose body has come, and was stored or not.
    @inline(never) func fetched(
        _ job: Job, _ download: Download, _ digest: SHA256Digest, _ placement: Placement, _ exchanges: ExchangesPlace?,
        at times: FetchTimes
    ) -> Conclusion {
        var body: HeldBody?
        var unfit: OutcomeContent?
        switch placement {
        case .held(let held): body = held
        case .refused(let error): return givenUp(job, error, times, download.duration, host: .answered)
        case .unfit(let errorClass, let sentence):
            unfit = .failure(job.url, errorClass, sentence)
            unfit?.status = download.status
        }
        var found = OutcomeContent(url: job.url)
        // Nobody has a body that was not stored.
        found.digest = unfit == nil ? digest.bytes : nil
        found.status = download.status
        found.size = Int(download.byteCount)
        found.phases = download.phases
        found.fields[.file] = body?.file
        found.fields[.contentType] = download.contentType
        found.fields[.wire] = exchanges?.text
        // Jobs of other batches, which heed it, may get this outcome.
        found.fields[.optOut] = download.headers.optOut(for: sites.agent)
        let (content, retention) = freshness.outcome(found, digest, of: download, for: job, at: times)

        let end =
            output.notesEnds ? record(of: job, download, unfit ?? content.noted(for: job.manners), isUnfit: unfit != nil, body, times) : nil
        let report = unfit.map { WorkerReport.failed(job, $0) } ?? .fetched(JobLabel(job), bytes: found.size, file: body?.file)
        return Conclusion(of: job, .fetched(content, retention), report, host: .answered, bytes: found.size, noting: end)
    }

    private func record(
        of job: Job, _ download: Download, _ content: OutcomeContent, isUnfit: Bool, _ body: HeldBody?, _ times: FetchTimes
    ) -> JobRecord {
        var end = JobRecord(job.id, isUnfit ? .failed : .fetched, content, duration: download.duration)
        end.picture = body?.picture
        end.typeMismatch = body?.typeMismatch ?? ""
        end.noteAnswer(
            at: Int(times.end.millisecondsSince1970), of: RedactedURL.withoutUserInfo(job.url), from: download.finalURL,
            header: { download.headers[$0] })
        return end
    }

    /// The policy says whether a failed attempt is followed by another one.
    private func retriedOrGivenUp(_ job: Job, _ error: FetchError, _ times: FetchTimes, _ duration: Duration) -> Conclusion {
        let host = Settlement.HostNews(error.kind)
        let failure = OutcomeContent(error, url: job.url)
        let outcome: Settlement.Outcome
        let pause: Duration?
        switch options.retryPolicy.decide(error.retry, failures: job.failures, random: .random(in: 0...1)) {
        case .retry(let time): (outcome, pause) = (.retry(failure, after: time), time)
        case .coolDown(let time): (outcome, pause) = (.throttled(failure, for: time), time)
        case .putOff(let time): (outcome, pause) = (.putOff(failure, for: time), time)
        case .giveUp: return givenUp(job, error, times, duration, host: host)
        }
        return Conclusion(of: job, outcome, .putOff(JobLabel(job), error, pause: pause), host: host)
    }

    private func givenUp(
        _ job: Job, _ error: FetchError, _ times: FetchTimes, _ duration: Duration, host: Settlement.HostNews
    ) -> Conclusion {
        let content = OutcomeContent(error, url: job.url)
        let report = WorkerReport.failed(JobLabel(job), sentence: error.description, errorClass: error.className)
        return Conclusion(
            of: job, .failed(content, freshness.retention(of: error, for: job, at: times)), report, host: host,
            noting: JobRecord(job.id, .failed, content, duration: duration))
    }

    /// Fails this job alone, because other jobs of the same URL may still have their headers.
    private func withoutHeaders(_ job: Job) -> Conclusion {
        let detail = "the headers that it was enqueued with are not in Redis any more; enqueue it again"
        return failed(job, with: OutcomeContent(FetchError(kind: .invalidRequest, url: job.url, detail: detail), url: job.url))
    }

    private func putOff(_ job: Job, at host: String, for pause: Duration) -> Conclusion {
        let detail = "a redirect leads to \(host), which takes no more requests for now"
        let failure = OutcomeContent(FetchError(kind: .throttled, url: job.url, detail: detail), url: job.url)
        return Conclusion(of: job, .putOff(failure, for: pause), .hostFull(JobLabel(job), host: host, pause: pause))
    }
}

extension OutcomeContent {
    /// The same, as it is recorded for a job: a batch that ignores reservations wants none in its manifest.
    fileprivate func noted(for manners: Manners) -> OutcomeContent {
        guard manners.optOuts == .ignore, fields[.optOut] != nil else { return self }
        var content = self
        content.fields[.optOut] = nil
        return content
    }

    fileprivate static func failure(_ url: String, _ errorClass: String, _ sentence: String) -> OutcomeContent {
        var content = OutcomeContent(url: url)
        content.fields = [.errorClass: errorClass, .errorMessage: sentence]
        return content
    }
}
