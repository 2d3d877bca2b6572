internal import BodyStores
internal import ClusterState
internal import GannetRedis
internal import HTTPCaching
internal import HTTPEngine

/// The ends of jobs: what the output stores and records, and what Redis is told.
extension JobRunner {
    static let poisonKept = Duration.seconds(24 * 3600)

    /// Ends a job whose URL was fetched for another job.
    /// - Parameter now: Queue time, ms.
    func deliver(_ job: Job, _ outcome: URLOutcome, at now: Int) async throws -> Conclusion {
        if outcome.isNegative {
            let conclusion = try await fail(job, with: outcome.content)
            guard let failure = outcome.remembered(at: now), case .failed(let label, _, let errorClass)? = conclusion.report else {
                return conclusion
            }
            return Conclusion(conclusion.settlement, .skipped(label, failure, errorClass: errorClass))
        }
        if let body = try await output.held(outcome, for: job) {
            var content = outcome.content
            content.fields[.file] = body.file
            try await output.note(JobEnd(.cached, content), of: job)
            return settled(job, .delivered, .cached(JobLabel(job), file: body.file))
        }
        // In Redis, zeros stand for the digest of an outcome without one.
        let digest = outcome.content.digest ?? [UInt8](repeating: 0, count: 32)
        return settled(job, .bodyMissing(digest: digest), .bodyMissing(JobLabel(job)))
    }

    /// Ends a job without a request: its URL failed for another job, its host is given up, or workers died with it.
    func fail(_ job: Job, with content: OutcomeContent, kept: Duration = .milliseconds(1)) async throws -> Conclusion {
        try await output.note(JobEnd(.failed, content), of: job)
        let retention = Retention(fresh: .zero, keep: kept, isStored: false)
        return settled(job, .failed(content, retention), .failed(job, content))
    }

    func place(_ download: Download, of job: Job, _ times: FetchTimes) async throws -> Conclusion {
        let body: HeldBody
        let digest = download.body.digest
        switch try await output.place(download, digest: digest, of: job) {
        case .held(let placed): body = placed
        case .refused(let error): return try await giveUp(job, error, times, download.duration, host: .answered)
        }
        // The body is in its place before the job is settled. A crash in between costs another fetch, but loses nothing.
        let (content, retention) = freshness.outcome(
            OutcomeContent(download, digest, of: job, file: body.file), digest, of: download, for: job, at: times)
        let bytes = Int(download.byteCount)
        try await output.note(JobEnd(.fetched, content, duration: download.duration), of: job)
        let report = WorkerReport.fetched(JobLabel(job), bytes: bytes, file: body.file)
        return settled(job, .fetched(content, retention), report, host: .answered, bytes: bytes)
    }

    /// A redirect has led the request to a host without a free place.
    func putOff(_ job: Job, _ host: String, _ times: FetchTimes, _ pause: Duration) async throws -> Conclusion {
        guard job.throttled < policy.giveUpAfter else {
            let detail = "a redirect leads to \(host), which had no free place in all that time"
            return try await giveUp(job, FetchError(kind: .throttled, url: job.url, detail: detail), times, .zero, host: .none)
        }
        let detail = "a redirect leads to \(host), which takes no more requests for now"
        let failure = OutcomeContent(FetchError(kind: .throttled, url: job.url, detail: detail), url: job.url)
        return settled(job, .putOff(failure, for: pause), .ledToFullHost(job, host, pause))
    }

    func retryOrGiveUp(_ job: Job, _ error: FetchError, _ times: FetchTimes, _ duration: Duration) async throws -> Conclusion {
        let decision = policy.decide(
            AttemptFailure(error.retry), failures: job.failures, throttled: job.throttled, random: .random(in: 0...1))
        let host = Settlement.HostNews(error.kind)
        let failure = OutcomeContent(error, url: job.url)
        var reason = error
        switch decision {
        case .retry(let pause): return settled(job, .retry(failure, after: pause), .putOff(job, error, pause), host: host)
        case .coolDown(let pause): return settled(job, .throttled(failure, for: pause), .putOff(job, error, pause), host: host)
        case .giveUp: break
        case .giveUpThrottled:
            // Without a proxy or name servers the error stays as it is, because no host has asked for a pause.
            if error.retry != .withoutNetwork { reason = FetchError(kind: .throttled, url: job.url, detail: error.detail) }
        }
        return try await giveUp(job, reason, times, duration, host: host)
    }

    /// Fails this job alone, because other jobs of the same URL may still have their headers.
    func giveUpWithoutHeaders(_ job: Job) async throws -> Conclusion {
        let error = FetchError(
            kind: .invalidRequest, url: job.url, detail: "the headers that it was enqueued with are not in Redis any more; enqueue it again"
        )
        let retention = Retention(fresh: .zero, keep: .milliseconds(1), isStored: false)
        return try await giveUp(job, error, kept: retention, .zero, host: .none)
    }

    func giveUp(
        _ job: Job, _ error: FetchError, _ times: FetchTimes, _ duration: Duration, host: Settlement.HostNews
    ) async throws -> Conclusion {
        try await giveUp(job, error, kept: freshness.retention(of: error, for: job, at: times), duration, host: host)
    }

    private func giveUp(
        _ job: Job, _ error: FetchError, kept retention: Retention, _ duration: Duration, host: Settlement.HostNews
    ) async throws -> Conclusion {
        let content = OutcomeContent(error, url: job.url)
        try await output.note(JobEnd(.failed, content, duration: duration), of: job)
        return settled(job, .failed(content, retention), .failed(job, error), host: host)
    }
}

extension OutcomeContent {
    /// The outcome of a URL that three workers died with.
    static func poison(_ url: String) -> OutcomeContent {
        failure(url, ExchangeRequest.poisonClass, "Three workers died while they had it.")
    }

    /// The outcome of a URL whose host took no connection for too long.
    static func hostGivenUp(_ url: String) -> OutcomeContent {
        failure(url, "connect", "Its host has taken no connection for so long that it was given up.")
    }

    private static func failure(_ url: String, _ errorClass: String, _ sentence: String) -> OutcomeContent {
        var content = OutcomeContent(url: url)
        content.fields = [.errorClass: errorClass, .errorMessage: sentence]
        return content
    }
}
