internal import GannetHTTP
internal import GannetQueue
internal import Results

/// The rules of a shared cache, for jobs: whether a kept answer can be revalidated, and for how long an outcome may be used.
struct JobFreshness: Sendable {
    let policy: FreshnessPolicy

    /// A kept answer to a job's URL, if it has conditions with which the origin can be asked whether it is still current.
    func kept(_ outcome: URLOutcome?) -> StoredAnswer? {
        guard let facts = outcome?.content.facts.flatMap({ StoredAnswer(decoding: $0) }), !facts.conditions.isEmpty else { return nil }
        return facts
    }

    /// The answer that a body of an earlier run came with, if the origin can be asked whether it is still current.
    func kept(_ earlier: JobRecord, for job: Job) -> StoredAnswer? {
        guard let digest = earlier.digest.flatMap({ SHA256Digest(bytes: $0) }) else { return nil }
        return StoredAnswer(
            facts(of: job), job.url, from: earlier[.finalURL].isEmpty ? job.url : earlier[.finalURL], status: earlier.status,
            entityTag: earlier[.entityTag], lastModified: earlier[.lastModified],
            at: Moment(millisecondsSince1970: Int64(earlier.fetchedAt)), digest: digest, byteCount: Int64(earlier.bytes))
    }

    /// The outcome of a URL whose body was fetched, and for how long it is kept.
    func outcome(
        _ content: OutcomeContent, _ digest: SHA256Digest, of download: Download, for job: Job, at times: FetchTimes
    ) -> (OutcomeContent, Retention) {
        var content = content
        let exchange = exchange(download, for: job, times)
        guard case .keep(let terms) = StorageDecision(for: exchange, policy: policy) else { return (content, keptForThoseWhoWait(job)) }
        // A job's URL is in its standard form.
        let facts = StoredAnswer(exchange, terms: terms, canonicalURL: job.url, digest: digest, byteCount: download.byteCount)
        content.facts = facts.encoded
        return (content, retention(of: facts, for: job, at: times.end))
    }

    /// The outcome after a 304 to the conditions of a kept answer; `nil` if the 304 does not fit that answer.
    /// - Parameter isShared: Whether others may use the answer too, and not this job alone.
    func confirmed(
        _ kept: StoredAnswer, outcome: OutcomeContent, isShared: Bool, by download: Download, for job: Job, at times: FetchTimes
    ) -> (OutcomeContent, Retention)? {
        var content = outcome
        switch kept.revalidated(by: exchange(download, for: job, times), policy: policy) {
        case .unusable: return nil
        case .confirmed(let facts):
            guard isShared else { return (content, keptForThoseWhoWait(job)) }
            content.facts = facts.encoded
            return (content, retention(of: facts, for: job, at: times.end))
        case .confirmedOnce:
            content.facts = nil
            return (content, keptForThoseWhoWait(job))
        }
    }

    /// For how long a final failure is kept, and keeps its URL from being fetched again.
    func retention(of error: FetchError, for job: Job, at times: FetchTimes) -> Retention {
        // Only jobs that were enqueued before get this failure. A later fetch may have other settings.
        if error.kind.restsOnSettings { return keptForThoseWhoWait(job) }
        let decision = FailureDecision(
            after: error, for: facts(of: job), requestedAt: times.start, failedAt: times.end, policy: policy)
        let fresh = max(.zero, decision.keptUntil - times.end)
        return Retention(fresh: fresh, keep: max(fresh, job.keeping.outcomesKept))
    }

    /// Jobs that were enqueued before the fetch get their turn, and users collect their results.
    private func keptForThoseWhoWait(_ job: Job) -> Retention { Retention(fresh: .zero, keep: job.keeping.outcomesKept, isStored: false) }

    private func retention(of facts: StoredAnswer, for job: Job, at now: Moment) -> Retention {
        let kept = facts.retention(at: now, policy: policy)
        return Retention(fresh: kept.fresh, keep: max(kept.keep, job.keeping.outcomesKept))
    }

    private func facts(of job: Job) -> RequestFacts { RequestFacts(url: job.url, headers: job.headerFields ?? []) }

    private func exchange(_ download: Download, for job: Job, _ times: FetchTimes) -> Exchange {
        Exchange(download, request: facts(of: job), requestedAt: times.start, receivedAt: times.end)
    }
}

/// When a request was sent, and when it was answered or failed, by the wall clock.
struct FetchTimes: Sendable {
    let start: Moment
    let end: Moment

    static var now: FetchTimes {
        let now = Moment.now
        return FetchTimes(start: now, end: now)
    }
}
