package import GannetHTTP

/// A tier that processes share: their answers, and the right to fetch a URL, which one process has at a time.
package protocol SharedTier: Sendable {
    /// The answer of a URL, or the lease to fetch it. While another process fetches the URL, this waits without polling.
    func acquire(_ ask: SharedAsk) async -> SharedAnswer

    /// The answer that the tier has now, for a caller that does not want a fetch.
    func kept(_ ask: SharedAsk) async -> CachedAnswer?

    /// Removes the answer of a URL. Throws when the tier cannot be reached, and then the answer may stay. A fetch that is under way is not disturbed.
    func remove(_ key: CacheKey, url: String) async throws
}

/// A question to the shared tier.
package struct SharedAsk: Sendable {
    package var key: CacheKey
    package var url: String
    /// Whether only an outcome counts whose fetch began after this question.
    package var refresh = false
    /// The greatest age of an answer. Without it, an answer counts for as long as its own headers permit.
    package var maximumAge: Duration?

    package init(key: CacheKey, url: String) {
        self.key = key
        self.url = url
    }
}

package enum SharedAnswer: Sendable {
    /// An answer that came after the question is the caller's whatever its headers say of its age, because the caller waited for it.
    case found(CachedAnswer, hasComeSince: Bool)
    /// Another process has failed to fetch the URL, and it is not to be tried again for now. Of a failure that came before the question the
    /// caller decides whether it counts.
    case failed(FetchError, hasComeSince: Bool)
    /// The caller fetches the URL, and no other process does so meanwhile.
    case leased(any SharedLease)
    /// Another process has just fetched the URL, and its answer is not for others. Each caller that waited asks the origin.
    case notShared
    /// The tier cannot be reached, or its reply is unreadable.
    case unavailable
    case cancelled
}

/// The right to fetch a URL. It is renewed until it is given up in one of these ways.
package protocol SharedLease: Sendable {
    /// The answer in the tier that is too old to be served without asking the origin.
    var stale: CachedAnswer? { get }

    /// Calls `action` once when the lease is lost. Another process may be fetching by then, so the fetch need not go on.
    func whenLost(_ action: @escaping @Sendable () -> Void)

    /// Whether a caller of another process waits for the URL at this moment.
    func isWantedElsewhere() async -> Bool

    /// Puts the answer into the tier.
    func commit(_ answer: CachedAnswer, kept: SharedRetention, revalidated: Bool) async -> SharedCommit

    /// Ends the lease without an answer for others. Callers that wait for it are woken, and ask the origin themselves.
    func shareNothing(status: Int) async

    /// Ends the lease with a failure, and keeps others from another attempt for some time.
    func fail(_ error: FetchError, for time: Duration) async

    /// Ends the lease, and leaves the fetch to the next process.
    func release() async
}

/// The effect of a commit to the shared tier.
package enum SharedCommit: Sendable, Equatable {
    case stored
    /// The lease had been lost, and another process has fetched the URL as well. Its answer stays.
    case fenced
    /// The lease had been lost, and nothing has changed.
    case lost
    /// There is no room for the answer.
    case refused
    /// The tier could not be reached.
    case unavailable
}
