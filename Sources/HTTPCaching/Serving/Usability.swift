/// How a kept answer fits a request now.
struct Usability {
    private let stored: StoredAnswer
    private let options: LookupOptions
    private let policy: FreshnessPolicy
    private let now: Moment
    /// Whether it may be used at all without the origin's word.
    private let isTrusted: Bool

    /// Nil when it is an answer to other requests.
    init?(_ stored: StoredAnswer, _ request: RequestFacts, _ options: LookupOptions, _ policy: FreshnessPolicy, _ now: Moment) {
        guard !request.isSpecial, VariantKey(stored.selecting, request: request.headers) == stored.variant else { return nil }
        self.stored = stored
        self.options = options
        self.policy = policy
        self.now = now
        // With credentials somebody asks for what is theirs. By RFC 9111 they could have what strangers got; an origin that means that says so.
        let isTheirs = stored.isForEverybody || !request.hasCredentials
        isTrusted = isTheirs && !options.refresh && stored.receivedAt <= now + policy.clockTolerance
    }

    private var freshness: Freshness { stored.freshness }

    private var staleness: Duration { now - freshness.freshUntil }

    /// Too old for the caller. What does not change while it is fresh is as good as new (RFC 8246, section 2).
    private var isTooOld: Bool {
        guard let limit = options.maximumAge, freshness.age(at: now) > limit else { return false }
        return !(freshness.isImmutable && freshness.isFresh(at: now))
    }

    /// How it may be used at once; nil when its origin has to be asked.
    func withoutAsking(random: Double) -> LookupDecision? {
        guard isTrusted, !isTooOld else { return nil }
        return freshness.isFresh(at: now) ? fresh(random) : stale
    }

    private func fresh(_ random: Double) -> LookupDecision? {
        if let least = options.minimumFreshness, freshness.freshUntil - now < least { return nil }
        let refreshesEarly =
            !options.onlyIfCached && !freshness.isImmutable
            && EarlyRefresh.isDue(stored, factor: policy.earlyRefreshFactor, now: now, random: random)
        return refreshesEarly ? .refreshEarly : .fresh
    }

    private var stale: LookupDecision? {
        guard !freshness.mustRevalidate, options.minimumFreshness == nil else { return nil }
        if let most = options.maximumStaleness, staleness <= most { return .stale }
        // Who limits the age, or the staleness, wants no other stale one.
        guard options.maximumAge == nil, options.maximumStaleness == nil, now < freshness.staleWhileRevalidateUntil else { return nil }
        return options.onlyIfCached ? .stale : .staleWhileRevalidate
    }

    /// Whether it may be used when its origin could not be asked.
    var mayServeOnError: Bool {
        guard isTrusted, !isTooOld else { return false }
        if freshness.isFresh(at: now) { return true }
        guard !freshness.mustRevalidate else { return false }
        return now < freshness.staleIfErrorUntil || options.staleIfError.map { staleness <= $0 } ?? false
    }
}
