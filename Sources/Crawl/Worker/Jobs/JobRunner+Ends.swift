internal import GannetHTTP
internal import GannetQueue
internal import GannetRedis
internal import Results

/// The ends of jobs: what the output notes, and what Redis is told. None of this waits.
extension JobRunner {
    /// In Redis, zeros stand for the digest of an outcome without one.
    private static let noDigest = [UInt8](repeating: 0, count: 32)

    // MARK: Without a request

    /// Ends a job whose URL was fetched for another job.
    /// - Parameters:
    ///   - body: The body of that outcome in this job's place, if it is there.
    ///   - now: Queue time, ms.
    @inline(never) func delivered(_ outcome: URLOutcome, _ body: HeldBody?, to job: Job, at now: Int) -> Conclusion {
        if outcome.isNegative {
            // The outcome is another batch's, which heeds more than this one.
            if outcome.content.fields[.errorClass] == FailureCounts.disallowed, job.manners != .obeying {
                return settled(job, .bodyMissing(digest: Self.noDigest), nil)
            }
            let failed = failed(job, with: outcome.content)
            guard let failure = outcome.remembered(at: now), case .failed(let label, _, let errorClass)? = failed.report else {
                return failed
            }
            return Conclusion(failed.settlement, .skipped(label, failure, errorClass: errorClass), noting: failed.end)
        }
        if job.manners.optOuts == .heed, let optOut = outcome.content.fields[.optOut] {
            return refused(job, by: optOut)
        }
        if let body {
            var content = outcome.content
            content.fields[.file] = body.file
            return settled(
                job, .delivered, .cached(JobLabel(job), file: body.file), noting: JobEnd(.cached, content.noted(for: job.manners)))
        }
        let digest = outcome.content.digest ?? Self.noDigest
        return settled(job, .bodyMissing(digest: digest), .bodyMissing(JobLabel(job)))
    }

    /// Ends a job whose site does not permit it the body that another job was given.
    func refused(_ job: Job, by rule: String) -> Conclusion {
        failed(job, with: OutcomeContent(FetchError(kind: .disallowed, url: job.url, detail: rule), url: job.url))
    }

    /// Ends a job that three workers died with.
    func endOfPoison(_ job: Job) -> Conclusion { failed(job, with: .poison(job.url), kept: job.keeping.outcomesKept) }

    /// Ends a job whose host is given up, or that was put off for too long, with the last failure.
    func endAtGivenUpHost(_ job: Job) -> Conclusion { failed(job, with: .hostGivenUp(job.url, job.hostFailure)) }

    private func failed(_ job: Job, with content: OutcomeContent, kept: Duration = .milliseconds(1)) -> Conclusion {
        let retention = Retention(fresh: .zero, keep: kept, isStored: false)
        return settled(job, .failed(content, retention), .failed(job, content), noting: JobEnd(.failed, content))
    }

    // MARK: After a request

    @inline(never) func concluded(
        _ job: Job, _ outcome: JobAttempt.Outcome, cancelled reason: WorkerMachine.Cancellation?
    ) throws -> Conclusion {
        switch outcome {
        case .fetched: preconditionFailure("A body is stored before its job is concluded.")
        case .found(let body): return settled(job, .delivered, .cached(JobLabel(job), file: body.file))
        case .confirmed(let kept, let content, let retention, let duration):
            var end = JobEnd(.revalidated, content, duration: duration)
            end.answer.fetchedAt = Int(Moment.now.millisecondsSince1970)
            return settled(
                job, .revalidated(content, retention), .revalidated(JobLabel(job), file: kept.body.file), host: .answered, noting: end)
        case .failed(let error, let times, let duration) where error.kind == .cancelled:
            guard reason == .overdue else { return settled(job, .handedBack, .handedBack(JobLabel(job))) }
            let detail = "the request was cut off, because it had lasted longer than any request may"
            return retryOrGiveUp(job, FetchError(kind: .timeout(.body), url: job.url, detail: detail), times, duration)
        case .failed(let error, _, _) where error.retry.isLocal:
            throw StorageFailure(.other(error.description, errno: error.systemError))
        case .failed(let error, let times, let duration): return retryOrGiveUp(job, error, times, duration)
        case .withoutHeaders: return givenUpWithoutHeaders(job)
        case .putOff(let host, let times, let pause): return putOff(job, host, times, pause)
        case .hopeless(let host, let times):
            let detail = "a redirect leads to \(host), which is given up for now, because it does not answer"
            return givenUp(job, FetchError(kind: .connect, url: job.url, detail: detail), times, .zero, host: .none)
        case .barred(let bar, let times): return try barred(job, bar, times)
        case .lostTouch(let error): throw error
        case .stopped(let error): throw error
        }
    }

    @inline(never) func placed(
        _ placement: Placement, _ fetched: JobAttempt.Fetched, _ digest: SHA256Digest, _ exchanges: ExchangesPlace?, of job: Job
    ) -> Conclusion {
        let download = fetched.download
        var body: HeldBody?
        var unfit: OutcomeContent?
        switch placement {
        case .held(let placed): body = placed
        case .refused(let error): return givenUp(job, error, fetched.times, download.duration, host: .answered)
        case .unfit(let errorClass, let sentence):
            unfit = .failure(job.url, errorClass, sentence)
            unfit?.status = download.status
        }
        var found = OutcomeContent(download, digest, of: job, file: body?.file)
        found.fields[.wire] = exchanges?.text
        // Jobs of other batches, which heed it, may get this outcome.
        found.fields[.optOut] = download.headers.optOut(for: sites.agent)
        let (content, retention) = freshness.outcome(found, digest, of: download, for: job, at: fetched.times)
        let bytes = Int(download.byteCount)
        var end = JobEnd(unfit == nil ? .fetched : .failed, unfit ?? content.noted(for: job.manners), duration: download.duration)
        end.picture = body?.picture
        end.answer = AnswerFacts(
            at: Int(fetched.times.end.millisecondsSince1970), of: RedactedURL.withoutUserInfo(job.url), from: download.finalURL,
            header: { download.headers[$0] })
        let report = unfit.map { WorkerReport.failed(job, $0) } ?? .fetched(JobLabel(job), bytes: bytes, file: body?.file)
        return settled(job, .fetched(content, retention), report, host: .answered, bytes: bytes, noting: end)
    }

    /// A redirect has led the request to a host without a free place.
    private func putOff(_ job: Job, _ host: String, _ times: FetchTimes, _ pause: Duration) -> Conclusion {
        let detail = "a redirect leads to \(host), which takes no more requests for now"
        let failure = OutcomeContent(FetchError(kind: .throttled, url: job.url, detail: detail), url: job.url)
        return settled(job, .putOff(failure, for: pause), .ledToFullHost(job, host, pause))
    }

    private func barred(_ job: Job, _ bar: JobAttempt.Bar, _ times: FetchTimes) throws -> Conclusion {
        switch bar {
        case .lostTouch(let error): throw error
        // It was a turn at its host, and nothing else: nobody has to hear of it.
        case .untilTurn: return settled(job, .handedBack, nil)
        // Where nobody has answered, nobody was asked, but perhaps for the rules, and the machine was told of that.
        case .disallowed(let error, let hasAnswered): return givenUp(job, error, times, .zero, host: hasAnswered ? .answered : .none)
        case .unknown(let error): return retryOrGiveUp(job, error, times, .zero)
        }
    }

    private func retryOrGiveUp(_ job: Job, _ error: FetchError, _ times: FetchTimes, _ duration: Duration) -> Conclusion {
        let decision = policy.decide(error.retry, failures: job.failures, random: .random(in: 0...1))
        let host = Settlement.HostNews(error.kind)
        let failure = OutcomeContent(error, url: job.url)
        switch decision {
        case .retry(let pause): return settled(job, .retry(failure, after: pause), .putOff(job, error, pause), host: host)
        case .coolDown(let pause): return settled(job, .throttled(failure, for: pause), .putOff(job, error, pause), host: host)
        case .giveUp: return givenUp(job, error, times, duration, host: host)
        }
    }

    /// Fails this job alone, because other jobs of the same URL may still have their headers.
    private func givenUpWithoutHeaders(_ job: Job) -> Conclusion {
        let error = FetchError(
            kind: .invalidRequest, url: job.url, detail: "the headers that it was enqueued with are not in Redis any more; enqueue it again"
        )
        let retention = Retention(fresh: .zero, keep: .milliseconds(1), isStored: false)
        return givenUp(job, error, kept: retention, .zero, host: .none)
    }

    private func givenUp(
        _ job: Job, _ error: FetchError, _ times: FetchTimes, _ duration: Duration, host: Settlement.HostNews
    ) -> Conclusion {
        givenUp(job, error, kept: freshness.retention(of: error, for: job, at: times), duration, host: host)
    }

    private func givenUp(
        _ job: Job, _ error: FetchError, kept retention: Retention, _ duration: Duration, host: Settlement.HostNews
    ) -> Conclusion {
        let content = OutcomeContent(error, url: job.url)
        return settled(
            job, .failed(content, retention), .failed(job, error), host: host, noting: JobEnd(.failed, content, duration: duration))
    }

    func settled(
        _ job: Job, _ outcome: Settlement.Outcome, _ report: WorkerReport?, host: Settlement.HostNews = .none, bytes: Int = 0,
        noting end: JobEnd? = nil
    ) -> Conclusion {
        let settlement = Settlement(job.token, job.id, outcome, host: host, bytesFetched: bytes, isDelivery: job.outcome != nil)
        return Conclusion(settlement, report, noting: end)
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

    /// The outcome of a URL that three workers died with.
    static func poison(_ url: String) -> OutcomeContent {
        failure(url, ExchangeRequest.poisonClass, "Three workers died while they had it.")
    }

    /// The outcome of a URL whose host is given up.
    /// - Parameter last: The failure of the last request there.
    static func hostGivenUp(_ url: String, _ last: OutcomeContent?) -> OutcomeContent {
        guard let last else { return failure(url, "connect", "Its host was given up, because it did not answer.") }
        let sentence = last.url == url ? last.failureSentence : "Its host was given up. The last request there: \(last.failureSentence)"
        var content = failure(url, last.fields[.errorClass] ?? "connect", sentence)
        if last.url == url { content.status = last.status }
        return content
    }

    fileprivate static func failure(_ url: String, _ errorClass: String, _ sentence: String) -> OutcomeContent {
        var content = OutcomeContent(url: url)
        content.fields = [.errorClass: errorClass, .errorMessage: sentence]
        return content
    }
}
