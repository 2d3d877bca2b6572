@testable import ClusterState

/// An outcome and when it was fetched.
struct ModelOutcome {
    let isNegative: Bool
    let isStored: Bool
    let began: Int
    let ended: Int
    let freshUntil: Int
}

extension ModelOutcome {
    init(_ page: PageLook) {
        self.init(
            isNegative: page.isNegative, isStored: page.isStored, began: page.began, ended: page.ended, freshUntil: page.freshUntil)
    }

    /// Whether the outcome is for a job or caller that asked at `since`. A fetch that ended after that is, even if its outcome may not be
    /// kept. A refresh needs a fetch that also began after that. An earlier outcome must be stored, and be fresh or young enough.
    func satisfies(since: Int, refresh: Bool, maximumAge: Int?, now: Int) -> Bool {
        if refresh { return began >= since }
        if ended >= since { return true }
        return isStored && (maximumAge.map { ended + $0 >= now } ?? (freshUntil > now))
    }
}

extension Model {
    func isSatisfied(_ job: ModelJob, by outcome: ModelOutcome, now: Int) -> Bool {
        let options = batch(of: job).options
        return outcome.satisfies(
            since: job.record.enqueued, refresh: options.refresh, maximumAge: options.maximumAge?.wholeMilliseconds, now: now)
    }
}
