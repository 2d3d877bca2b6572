internal import ClusterState
internal import HTTPCaching
internal import HTTPEngine

/// What a job's fetch means for those who ask later, by the rules of a shared cache: whether a kept answer may be asked after, and for how long an
/// outcome is of use.
struct JobFreshness: Sendable {
    let policy: FreshnessPolicy
    /// The jobs that were enqueued before an outcome was there take their turn within this time, and whoever enqueued them comes for it.
    let leastKept: Duration

    /// What is known of a kept answer to a job's URL, if its origin can be asked by it whether it still holds.
    func kept(_ page: Page?) -> StoredAnswer? {
        guard let facts = page?.content.facts.flatMap({ StoredAnswer(decoding: $0) }), !facts.conditions.isEmpty else { return nil }
        return facts
    }

    /// What is told of a URL whose body has come, and for how long.
    func outcome(_ content: PageContent, of download: Download, for job: Job, at times: FetchTimes) -> (PageContent, Retention) {
        var content = content
        guard let url = try? CanonicalURL(job.url),
            case .keep(let terms) = StorageDecision(for: exchange(download, for: job, times), policy: policy)
        else { return (content, keptForThoseWhoWait) }
        let facts = StoredAnswer(
            exchange(download, for: job, times), terms: terms, canonicalURL: url.text, digest: download.body.digest,
            byteCount: download.byteCount)
        content.facts = facts.encoded
        return (content, retention(of: facts, at: times.end))
    }

    /// What a 304 makes of the kept answer that the request was about; `nil` when it is about something else.
    func confirmed(
        _ kept: StoredAnswer, page: PageContent, by download: Download, for job: Job, at times: FetchTimes
    ) -> (PageContent, Retention)? {
        var content = page
        switch kept.revalidated(by: exchange(download, for: job, times), policy: policy) {
        case .unusable: return nil
        case .confirmed(let facts):
            content.facts = facts.encoded
            return (content, retention(of: facts, at: times.end))
        case .confirmedOnce:
            content.facts = nil
            return (content, keptForThoseWhoWait)
        }
    }

    /// For how long nobody needs to try again what has failed for good.
    func retention(of error: FetchError, for job: Job, at times: FetchTimes) -> Retention {
        // For the jobs that waited for it; who comes later may come with settings of its own.
        if error.kind.restsOnSettings { return keptForThoseWhoWait }
        let decision = FailureDecision(
            after: error, for: facts(of: job), requestedAt: times.start, failedAt: times.end, policy: policy)
        let fresh = max(.zero, decision.keptUntil - times.end)
        return Retention(fresh: fresh, keep: max(fresh, leastKept))
    }

    private var keptForThoseWhoWait: Retention { Retention(fresh: .zero, keep: leastKept, isStored: false) }

    private func retention(of facts: StoredAnswer, at now: Moment) -> Retention {
        let kept = facts.retention(at: now, policy: policy)
        return Retention(fresh: kept.fresh, keep: max(kept.keep, leastKept))
    }

    private func facts(of job: Job) -> RequestFacts { RequestFacts(url: job.url, headers: job.headerFields ?? []) }

    private func exchange(_ download: Download, for job: Job, _ times: FetchTimes) -> Exchange {
        Exchange(download, request: facts(of: job), requestedAt: times.start, receivedAt: times.end)
    }
}

/// When a request was sent, and when its outcome was there, by the wall clock.
struct FetchTimes: Sendable {
    let start: Moment
    let end: Moment
}
