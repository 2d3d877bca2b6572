package import HTTPCaching
package import HTTPEngine

/// What other processes have fetched, and the right to fetch what they have not.
package protocol SharedTier: Sendable {
    /// What there is for a URL, or the right to fetch it. While somebody else fetches it this waits, without asking again and again.
    func acquire(_ ask: SharedAsk) async -> SharedAnswer

    /// Forgets what there is for a URL, where the tier can be reached. A fetch that is under way is not disturbed.
    func remove(_ key: CacheKey) async
}

/// What is asked of the shared tier.
package struct SharedAsk: Sendable {
    package var key: CacheKey
    package var url: String
    /// Only an outcome whose fetch began after this call will do.
    package var refresh = false
    /// How old an answer may be; without it, as long as the answer itself says.
    package var maximumAge: Duration?

    package init(key: CacheKey, url: String) {
        self.key = key
        self.url = url
    }
}

/// What the shared tier says.
package enum SharedAnswer: Sendable {
    /// One that has come since this was asked is the caller's whatever it says of its age: he waited for it.
    case found(CachedAnswer, hasComeSince: Bool)
    /// Somebody has tried, and it is not to be tried again for now.
    case failed(FetchError)
    /// The caller fetches it, and nobody else does meanwhile.
    case leased(any SharedLease)
    /// Somebody has just fetched it, and his answer is not for others: everybody who waited asks the origin himself.
    case notShared
    /// The tier cannot be reached, or not be made sense of, as this sentence says.
    case unavailable(String)
    case cancelled
}

/// The right to fetch a URL, kept alive until it is given up in one of these ways.
package protocol SharedLease: Sendable {
    /// What there was, too old to be served without asking the origin.
    var stale: CachedAnswer? { get }

    /// Has this called, once, when the right is lost: another may be fetching by now, so going on is of no use.
    func whenLost(_ action: @escaping @Sendable () -> Void)

    /// Puts the answer where all find it.
    func commit(_ answer: CachedAnswer, kept: SharedRetention, revalidated: Bool) async -> SharedCommit

    /// Says that it was fetched and that the answer is for nobody else: whoever waits for it is woken, and asks the origin himself.
    func shareNothing(status: Int) async

    /// Says that it could not be fetched, and for how long nobody needs to try again.
    func fail(_ error: FetchError, for time: Duration) async

    /// Leaves it to the next.
    func release() async
}

/// What became of a committed answer.
package enum SharedCommit: Sendable, Equatable {
    case stored
    /// The right had been lost, and another has fetched the URL as well: what it wrote stands.
    case fenced
    /// The right had been lost, and nothing has changed.
    case lost
    /// There is no room for it, as this sentence says.
    case refused(String)
    /// The tier could not be reached, as this sentence says.
    case unavailable(String)
}
